import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

type Environment = Readonly<NodeJS.ProcessEnv>

/** The folder of an agent's own settings: what the variable names, else `name` in the home folder. */
export function homeFolder(environment: Environment, variable: string, name: string): string {
  const given = environment[variable]
  if (given && isAbsolute(given)) return given
  const { HOME } = environment
  return join(HOME && isAbsolute(HOME) ? HOME : homedir(), name)
}
