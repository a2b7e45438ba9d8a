/**
 * Table `published`: what was last published of each case, which the publisher compares with what the files say now.
 */

import type { CaseFacts } from '../model/case-facts.ts'
import { UUID } from '../model/words.ts'
import type { Database, Run } from '../state/database.ts'

/** Facts that grow with the case have separate rows, beside the row of the case. */
const PARTS = ['proofs', 'sessions', 'notes'] as const

/** The key of the workspace's problems; it is not a case id. */
const WORKSPACE = 'workspace'

/** JSON texts by key: the case id for its core, and `<id> <part>` for the parts that grow. */
type Rows = Map<string, string>

/** The facts last published of each case, including those not stored yet. */
export interface PublishedFacts {
  /** Whether this is the first start in this workspace, at which everything counts as published without events. */
  readonly isNew: boolean
  /** Null if nothing was published of this case, or it was deleted. */
  read(caseId: string): CaseFacts | null
  /** The workspace's problems, as JSON. */
  workspace(): string
  /** Ids of all cases with published facts. */
  caseIds(): string[]
  /**
   * Sets the published facts of a case; null removes them. Returns the changed rows to write, and a function to call
   * once they are stored; null if nothing changed.
   */
  replace(caseId: string, facts: CaseFacts | null): Replacement | null
  replaceWorkspace(problems: string): Replacement | null
  /** Call after the start: drops the list of published cases, which only the start needs. */
  endStart(): void
}

export interface Replacement {
  write(run: Run): void
  onWritten(): void
}

export function createPublishedFacts(database: Database): PublishedFacts {
  /** Values that are not stored yet. */
  const unwritten = new Map<string, Rows>()
  let hasStarted = false
  let storedAtStart: Set<string> | null = null

  function rowsOf(name: string): Rows {
    if (!hasStarted) storedAtStart ??= new Set(storedIds())
    const isStored = storedAtStart?.has(name) ?? true
    return unwritten.get(name) ?? (isStored ? storedRows(name) : new Map())
  }

  function storedIds(): string[] {
    const stored = database.all<{ key: string }>(
      'SELECT key FROM published WHERE length(key) <= 36', // a UUID, or the name of the workspace
    )
    return stored.map(({ key }) => key)
  }

  function storedRows(name: string): Rows {
    const rows = database.all<{ key: string; facts: string }>(
      'SELECT key, facts FROM published WHERE key = ? OR (key > ? AND key < ?)',
      name,
      `${name} `,
      `${name}!`,
    )
    return new Map(rows.map(({ key, facts }) => [key, facts]))
  }

  function replaceRows(name: string, rows: Rows): Replacement | null {
    const before = rowsOf(name)
    const removed = [...before.keys()].filter((key) => !rows.has(key))
    const changed = [...rows].filter(([key, text]) => before.get(key) !== text)
    if (removed.length + changed.length === 0) return null
    unwritten.set(name, rows)
    storedAtStart?.add(name)
    return {
      write(run) {
        for (const key of removed) run('DELETE FROM published WHERE key = ?', key)
        for (const [key, text] of changed) {
          run('INSERT OR REPLACE INTO published (key, facts) VALUES (?, ?)', key, text)
        }
      },
      onWritten() {
        if (unwritten.get(name) === rows) unwritten.delete(name)
      },
    }
  }

  return {
    get isNew() {
      return !rowsOf(WORKSPACE).has(WORKSPACE)
    },
    read: (caseId) => factsIn(caseId, rowsOf(caseId)),
    workspace: () => rowsOf(WORKSPACE).get(WORKSPACE) ?? '[]',
    caseIds() {
      const ids = new Set(storedIds().filter((key) => UUID.test(key)))
      for (const [id, rows] of unwritten) {
        if (rows.size > 0 && UUID.test(id)) ids.add(id)
        else ids.delete(id)
      }
      return [...ids]
    },
    replace: (caseId, facts) => replaceRows(caseId, rowsFor(caseId, facts)),
    endStart() {
      hasStarted = true
      storedAtStart = null
    },
    replaceWorkspace: (problems) => replaceRows(WORKSPACE, new Map([[WORKSPACE, problems]])),
  }
}

function rowsFor(caseId: string, facts: CaseFacts | null): Rows {
  const rows: Rows = new Map()
  if (!facts) return rows
  const { state, fields, problems, causes } = facts
  const core = {
    state,
    fields,
    problems,
    causes,
  }
  rows.set(caseId, JSON.stringify(core))
  for (const part of PARTS) {
    if (Object.keys(facts[part]).length > 0) {
      rows.set(`${caseId} ${part}`, JSON.stringify(facts[part]))
    }
  }
  return rows
}

function factsIn(caseId: string, rows: Rows): CaseFacts | null {
  const core = rows.get(caseId)
  if (core === undefined) return null
  const [proofs, sessions, notes] = PARTS.map((part) =>
    JSON.parse(rows.get(`${caseId} ${part}`) ?? '{}'),
  )
  return {
    ...JSON.parse(core),
    proofs,
    sessions,
    notes,
  }
}
