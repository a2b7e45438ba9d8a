/**
 * A policy that limits Gemini CLI's tools in plan mode: denied tools are not offered to its model. Its own plan
 * mode is not used, because it tells the model to write the plan to a file, in phases, and to ask questions.
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

/** The same for opencode. Tools are also denied by name, because a user's setting for a name would win over `*`. */
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
