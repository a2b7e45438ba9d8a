/**
 * Table `published`: what was last published of each case, which the publisher compares with what the files say now.
 */

import type { CaseFacts } from '../model/case-facts.ts'
import { UUID } from '../model/words.ts'
import type { Database, Run } from '../state/database.ts'

/** Each kind of facts that grows with the case has a separate row, beside the row of the case. */
const PARTS = ['proofs', 'sessions', 'notes'] as const

/** The name under which the problems of the workspace are stored; no case has such an id. */
const WORKSPACE = 'workspace'

/** JSON texts by key: the case's id for its core, and `<id> <part>` for what grows with it. */
type Rows = Map<string, string>

/** What was last published of each case, including what is not on the disk yet. */
export interface PublishedFacts {
  /** Whether this is the first start in this workspace, which takes everything as published without events. */
  readonly isNew: boolean
  /** Null if nothing was published of this case, or its deletion. */
  read(caseId: string): CaseFacts | null
  /** Of the workspace's problems, as JSON. */
  workspace(): string
  /** Ids of all cases of which something is published. */
  caseIds(): string[]
  /**
   * Takes these facts as published; null removes them. Gives what is to be written for it, only of what differs,
   * and what is to be called once that is on the disk; null where nothing differs.
   */
  replace(caseId: string, facts: CaseFacts | null): Replacement | null
  replaceWorkspace(problems: string): Replacement | null
  /** The start is over, in which it is known of which cases something was published: thousands are asked for. */
  endStart(): void
}

export interface Replacement {
  write(run: Run): void
  onWritten(): void
}

export function createPublishedFacts(database: Database): PublishedFacts {
  /** What was replaced, and is not on the disk yet. */
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
  const { state, fields, problems, files } = facts
  rows.set(caseId, JSON.stringify({ state, fields, problems, files }))
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
