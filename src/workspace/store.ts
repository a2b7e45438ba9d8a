import { newCaseText } from '../markdown/case-file.ts'
import { readSessionTexts } from '../markdown/session-texts.ts'
import type { Case } from '../model/case.ts'
import { type CaseFolder, type Decide, type Edit, sessionOf } from '../model/case-folder.ts'
import { Refusal } from '../model/refusal.ts'
import type { SessionTexts } from '../model/session.ts'
import { createCaseFolder, makeMemoryRoot } from './case-making.ts'
import type { CaseEntry, Catalog, Change } from './catalog.ts'
import { differences } from './differences.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import { type ReaderNeeds, readCaseRecord, readProofRecord, readSessionRecord } from './readers.ts'
import { removeFolder } from './remove-folder.ts'
import type { Scan } from './scan.ts'
import { textOf } from './texts.ts'
import { unreadable, writeEdit } from './write-edit.ts'

export interface UpdateOptions {
  /** Load the sections of this session for the decision (`folder.texts`). */
  texts?: string
}

/**
 * The one way a change takes: under the case's mutex the files are brought up to date, a pure
 * function decides, its edits are written durably one by one, and what is on disk then goes into the
 * catalog and out as changes.
 */
export interface Store {
  /** Brings one case up to the disk and gives it; Refusal `not_found` when there is none. */
  read(id: string): Promise<CaseFolder>
  update(id: string, decide: Decide, options?: UpdateOptions): Promise<CaseFolder>
  create(value: Case): Promise<CaseFolder>
  /** Moves the case out of the tree, then deletes it. `allow` may refuse, seeing it as it is. */
  remove(id: string, allow: (folder: CaseFolder) => void): Promise<void>
  /** Runs work on a case's files that is no record (memory files); then looks at the case again. */
  alone<T>(id: string, work: (folder: CaseFolder) => Promise<T>): Promise<T>
}

export interface StoreNeeds extends ReaderNeeds {
  catalog: Catalog
  scan: Scan
  mutex: KeyedMutex
  trash: string
  publish(changes: Change[]): void
  /** Called after the memory root was made. */
  onMemoryRoot(): Promise<void>
  /** Throws when nothing may be written: shutting down, or no longer the owner. */
  writable(): void
}

const ATTEMPTS = 4

export function createStore(needs: StoreNeeds): Store {
  const { layout, catalog, scan, mutex, publish } = needs

  async function current(id: string): Promise<CaseFolder> {
    await scan.one(id)
    const folder = catalog.folder(id)
    if (folder) return folder
    throw new Refusal('not_found', `There is no case ${id}.`)
  }

  async function update(
    id: string,
    decide: Decide,
    options: UpdateOptions = {},
  ): Promise<CaseFolder> {
    return mutex.run(id, async () => {
      needs.writable()
      for (let attempt = 1; ; attempt++) {
        const folder = await current(id)
        const texts =
          options.texts === undefined ? {} : { texts: await textsOf(id, folder, options.texts) }
        const edits = decide({ ...folder, ...texts })
        for (const edit of edits) mustBeReadable(catalog.entry(id)!, edit)
        const [first, ...others] = edits
        if (first && !(await write(id, first, attempt))) continue
        await follow(id, folder, others)
        return catalog.folder(id)!
      }
    })
  }

  /** False when somebody saved the file meanwhile: then all is decided anew. */
  async function write(id: string, edit: Edit, attempt: number): Promise<boolean> {
    try {
      await writeEdit(layout, catalog.entry(id)!, edit)
    } catch (error) {
      if (!isChanged(error) || attempt >= ATTEMPTS) throw error
      return false
    }
    await apply(id, edit)
    return true
  }

  /**
   * The edits that belong to the first one, which is on disk and cannot be taken back: where somebody
   * saved such a file meanwhile they are made on what stands there now, unless a person has just set
   * the very field, which then stays as he set it.
   */
  async function follow(id: string, decidedOn: CaseFolder, edits: Edit[]): Promise<void> {
    for (const edit of edits) {
      for (let attempt = 1; !(await write(id, edit, attempt)); attempt++) {
        const { case: present } = await current(id)
        if (edit.file !== 'case') continue
        if (!catalog.entry(id)!.file.readable) break
        const fields = Object.keys(edit.edit.fields ?? {}) as (keyof Case)[]
        if (fields.some((key) => present[key] !== decidedOn.case[key])) break
      }
    }
  }

  /** Reads the file that was just written into the catalog, and tells the change. */
  async function apply(id: string, edit: Edit): Promise<void> {
    const known = catalog.entry(id)!
    const entry: CaseEntry = {
      ...known,
      sessions: new Map(known.sessions),
      proofs: new Map(known.proofs),
    }
    const of = { id, title: known.file.value.title }
    if (edit.file === 'case') entry.file = await readCaseRecord(needs, id, known.file)
    else if (edit.file === 'session' || edit.file === 'new-session') {
      const number = edit.file === 'session' ? edit.number : edit.session.number
      const own = { ...needs, isHeld: () => false } // lines that we appended are no one's forgery
      const record = await readSessionRecord(own, of, number, known.sessions.get(number))
      entry.sessions.set(number, record)
    } else {
      const proofId = edit.file === 'proof' ? edit.id : edit.proof.id
      entry.proofs.set(
        proofId,
        await readProofRecord(needs, id, proofId, known.proofs.get(proofId)),
      )
    }
    catalog.put(entry)
    publish(differences(known, entry))
  }

  async function textsOf(id: string, folder: CaseFolder, sessionId: string): Promise<SessionTexts> {
    const session = sessionOf(folder, sessionId)
    const record = catalog.entry(id)!.sessions.get(session.number)!
    const text = record.readable ? await textOf(layout, id, session.number) : null
    const reading = text === null ? null : await readSessionTexts(text, session)
    if (reading?.value) return reading.value
    throw unreadable(`sessions/${session.number}.md`, {
      problems: reading?.problems ?? record.problems,
    })
  }

  return {
    read: (id) => mutex.run(id, () => current(id)),
    update,
    async create(value) {
      return mutex.run(value.id, async () => {
        needs.writable()
        if (await makeMemoryRoot(layout)) await needs.onMemoryRoot()
        await createCaseFolder(layout, value.id, await newCaseText(value))
        return current(value.id)
      })
    },
    async remove(id, allow) {
      return mutex.run(id, async () => {
        needs.writable()
        allow(await current(id))
        await removeFolder(layout.caseFolder(id), needs.trash)
        await needs.lastGood.forget(id)
        await scan.one(id)
      })
    },
    alone(id, work) {
      return mutex.run(id, async () => {
        needs.writable()
        const result = await work(await current(id))
        await scan.one(id)
        return result
      })
    },
  }
}

function isChanged(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'changed_meanwhile'
}

function mustBeReadable(entry: CaseEntry, edit: Edit): void {
  if (edit.file === 'case' && !entry.file.readable) throw unreadable('case.md', entry.file)
}
