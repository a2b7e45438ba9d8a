/** What an agent needs of the home folder when it works: its login, settings and conversations. */

export interface AgentHomePaths {
  /** Folders and files that it writes to. */
  paths: string[]
  /** Of those, the files; the others are folders. */
  files: string[]
  /** Other paths that it must see, such as the login of another program. */
  seen?: string[]
}

export type FindAgentHomePaths = (environment: Readonly<NodeJS.ProcessEnv>) => AgentHomePaths
