"""What to do about a graph break or a failed guard: one next step each, with the user's own line rewritten where it is simple.

Rules decide whether there is a finding; the advice here is chosen by what the record says about the cause.
"""
