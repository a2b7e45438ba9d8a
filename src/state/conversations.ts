/** Tables `conversations` and `current_cases`: agents that people run themselves, and what they work on. */

import { type Conversation, conversationSchema } from '../model/conversation.ts'
import { type Database, parsedJson } from './database.ts'

export interface ConversationRows {
  all(): Conversation[]
  write(conversation: Conversation): void
  remove(id: string): void
  /** The case that is current for a working folder; null if none is. */
  currentCase(folder: string): string | null
  setCurrentCase(folder: string, caseId: string | null): Promise<void>
}

export function createConversationRows(
  database: Database,
  log: (line: string) => void,
): ConversationRows {
  const current = readCurrentCases(database)
  return {
    all: () => readConversations(database, log),
    write(conversation) {
      const text = JSON.stringify(conversation)
      database.write((run) =>
        run('INSERT OR REPLACE INTO conversations VALUES (?, ?)', conversation.id, text),
      )
    },
    remove(id) {
      database.write((run) => run('DELETE FROM conversations WHERE id = ?', id))
    },
    currentCase: (folder) => current.get(folder) ?? null,
    async setCurrentCase(folder, caseId) {
      await database.attempt((run) =>
        caseId === null
          ? run('DELETE FROM current_cases WHERE folder = ?', folder)
          : run('INSERT OR REPLACE INTO current_cases VALUES (?, ?)', folder, caseId),
      )
      if (caseId === null) current.delete(folder)
      else current.set(folder, caseId)
    },
  }
}

/** The valid records; others are skipped and not deleted. */
export function readConversations(
  database: Pick<Database, 'all'>,
  log: (line: string) => void,
): Conversation[] {
  const rows = database.all<{ id: string; record: string }>('SELECT * FROM conversations')
  return rows.flatMap(({ id, record }) => {
    const { data } = conversationSchema.safeParse(parsedJson(record))
    if (data?.id === id) return [data]
    log(`the record of the conversation ${id} makes no sense and was skipped`)
    return []
  })
}

/** The case that is current, by working folder. */
export function readCurrentCases(database: Pick<Database, 'all'>): Map<string, string> {
  const rows = database.all<{ folder: string; case_id: string }>(
    'SELECT folder, case_id FROM current_cases',
  )
  return new Map(rows.map(({ folder, case_id }) => [folder, case_id]))
}
