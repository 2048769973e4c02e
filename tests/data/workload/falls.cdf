# bytes percent
1000 50
900 100
