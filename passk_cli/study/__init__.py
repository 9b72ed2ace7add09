"""The one skeleton under every command: data and what is asked of it in, facts and reports out.

Here live `Analysis`, the values per task behind every number (`TaskValues`), the numbers themselves
(`Result`), pairs of models, the words they share and the signature.  No command's own knowledge, no
files, no rendering.
"""
