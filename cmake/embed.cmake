# SPDX-License-Identifier: Apache-2.0
# Files as texts of a C program. hcasim_embed(TARGET OUTPUT NAME FILE [NAME FILE...]) compiles
# OUTPUT into the target. OUTPUT has `const char NAME[]` for each file, with a final zero byte. As a
# script, this file writes OUTPUT.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "/* generated from: ${PARTS} */\n")
  string(REPLACE "," ";" PARTS "${PARTS}")
  while(PARTS)
    list(POP_FRONT PARTS name file)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND text "extern const char ${name}[];\nconst char ${name}[] = {${bytes}0};\n")
  endwhile()
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

set(hcasim_embed_script ${CMAKE_CURRENT_LIST_FILE})
function(hcasim_embed target output)
  set(files)
  set(parts ${ARGN})
  while(parts)
    list(POP_FRONT parts name file)
    list(APPEND files ${file})
  endwhile()
  string(REPLACE ";" "," parts "${ARGN}")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${output})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DPARTS=${parts} -P ${hcasim_embed_script}
    DEPENDS ${files} ${hcasim_embed_script}
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
