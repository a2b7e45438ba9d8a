import type { ConversationJson } from '../../http/schemas/conversation.ts'
import { visibleText } from '../../model/visible-text.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { ago } from './times.ts'

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
