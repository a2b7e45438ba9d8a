/**
 * Gemini CLI's tools while it plans, as a policy: what is denied is not offered to its model. In its own plan
 * mode its instructions are to write the plan into a file, one phase at a time, and to ask.
 */
export const GEMINI_PLAN = `[[rule]]
toolName = "*"
decision = "deny"
priority = 998

[[rule]]
toolName = ["read_file", "read_many_files", "list_directory", "grep_search", "glob"]
decision = "allow"
priority = 999
`

/** Those of opencode: the rest by name too, since what the user's own settings allow by name would win. */
export const OPENCODE_PLAN = {
  '*': 'deny',
  read: 'allow',
  grep: 'allow',
  glob: 'allow',
  list: 'allow',
  todowrite: 'allow',
  todoread: 'allow',
  bash: 'deny',
  edit: 'deny',
  webfetch: 'deny',
  task: 'deny',
  external_directory: 'deny',
}
