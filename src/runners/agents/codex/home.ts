import { homeFolder } from '../homes.ts'
import { isAnySet, isThere, type LoginCheck, textOf } from '../login.ts'

/** The folder of its settings and conversations. */
export function codexHome(environment: Readonly<NodeJS.ProcessEnv>): string {
  return homeFolder(environment, 'CODEX_HOME', '.codex')
}

/** A model provider of the user's own needs no login, and `login status` does not know that. */
export const CODEX_LOGIN: LoginCheck = {
  command: 'codex login',
  status: ['codex', 'login', 'status'],
  async read(answer, env) {
    if (isAnySet(env, ['CODEX_API_KEY']) || answer?.exit === 0) return true
    const folder = codexHome(env)
    if (answer === null) return (await isThere(folder, 'auth.json')) || null
    const config = await textOf(folder, 'config.toml')
    return answer.exit !== 1 || /^[ \t]*model_provider[ \t]*=/m.test(config) ? null : false
  },
}
