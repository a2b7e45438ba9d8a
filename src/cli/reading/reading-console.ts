import type { Asking } from '../../client/client.ts'
import type { FoundPlaces } from '../../workspace/settings/places.ts'
import type { Terminal } from '../terminal.ts'

/** What a command works with that only asks. */
export interface ReadingConsole {
  client: Asking
  terminal: Terminal
  workspace: Pick<FoundPlaces, 'root' | 'memoryRoot' | 'settings'>
  /** One JSON document in place of text. */
  json: boolean
}
