# namespaces: does the system give runs namespaces of their own (verbs-shim/session/isolate.c)? Where it does not, programs that
# make identifiers of the numbers of their threads do not repeat (docs/session.md).
namespaces() {
  unshare --user --map-root-user --net --mount --pid --ipc --fork true 2>/dev/null
}
