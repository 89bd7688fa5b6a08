"""A model that says what its script says: both common model APIs over real HTTP, on loopback.

For tests and the demo. It runs as a process of its own, so it outlives whoever is killed around it.

    script.py     what is said, turn by turn               asked.py     a request, whatever protocol it came in
    choosing.py   which turn answers a request             answer.py    what is said, before a protocol words it
    faults.py     rules that spoil answers                 ledger.py    every request, on disk before its answer
    protocols/    chat completions, responses, messages: reading requests, wording answers and errors
    delivery.py   sending an answer, or losing it          server.py    the server; `python -m` starts one

Which turn answers is read from the request alone. The same request gets the same bytes, before and after a kill.
"""
