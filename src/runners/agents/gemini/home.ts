import { join } from 'node:path'
import { readJsonFile } from '../../../files/json-file.ts'
import { homeFolder } from '../homes.ts'
import { isAnySet, isThere, type LoginCheck } from '../login.ts'
import { asRecord, asString } from '../unknown-record.ts'

/** The folder of its settings and conversations; `GEMINI_CLI_HOME` takes the place of the home folder. */
export function geminiHome(environment: Readonly<NodeJS.ProcessEnv>): string {
  return join(homeFolder(environment, 'GEMINI_CLI_HOME', ''), '.gemini')
}

export const GEMINI_LOGIN: LoginCheck = {
  command: 'gemini',
  status: null,
  async read(_, env) {
    if (isAnySet(env, ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI']))
      return true
    const folder = geminiHome(env)
    for (const name of ['oauth_creds.json', 'gemini-credentials.json']) {
      if (await isThere(folder, name)) return true
    }
    const settings = asRecord(await readJsonFile(join(folder, 'settings.json')))
    const { selectedType } = asRecord(asRecord(asRecord(settings.security).auth))
    // a key may be in the keychain or in a .env file
    const isChosen = asString(selectedType) !== null || (await isThere(folder, '.env'))
    return isChosen ? null : false
  },
}
