import { visibleText } from '../../model/visible-text.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { ago } from './times.ts'

/** What commands use of a conversation. */
export interface ConversationJson {
  id: string
  agent: string
  case_id: string | null
  folder: string
  branch: string | null
  prompts: number
  started_at: string
  last_heard_at: string | null
  ended_at: string | null
  is_gated: boolean
}

/** Conversations with agents, one a line. */
export function conversationTable(
  rows: readonly ConversationJson[],
  { width, color }: Terminal,
): string {
  const cells = rows.map((row) => {
    const heard = row.last_heard_at === null ? 'not heard' : ago(row.last_heard_at)
    const place = row.folder + (row.branch === null ? '' : ` (${row.branch})`)
    return [
      { text: row.id.slice(0, 8), paint: color.dim },
      { text: row.agent },
      { text: visibleText(place) },
      { text: row.prompts === 1 ? '1 prompt' : `${row.prompts} prompts` },
      { text: heard },
    ]
  })
  return table(cells, { width: width(), cuts: [[2, 12]] })
}
