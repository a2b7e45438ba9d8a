import { CASE_FILE, MAX_CASE_BYTES, newCaseText } from '../markdown/case-file.ts'
import type { Case } from '../model/case.ts'
import { type CaseFolder, type Decide, type Edit, sessionOf } from '../model/case-folder.ts'
import { Refusal } from '../model/refusal.ts'
import type { SessionTexts } from '../model/session.ts'
import { nextTrailNumber } from '../model/trail.ts'
import { createCaseFolder, makeMemoryRoot } from './case-making.ts'
import type { CaseEntry, Catalog, Change } from './catalog.ts'
import { differences } from './differences.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import { pointLatest } from './latest-link.ts'
import { type ReaderNeeds, readCaseRecord, readProofRecord, readSessionRecord } from './readers.ts'
import { removeFolder } from './remove-folder.ts'
import type { Scan } from './scan.ts'
import type { Texts } from './texts.ts'
import { mustBeReadable, mustFit, prepareEdit, writePrepared } from './write-edit.ts'

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
  texts: Texts
  mutex: KeyedMutex
  trash: string
  publish(changes: Change[]): void
  /** Called after the memory root was made. */
  onMemoryRoot(): Promise<void>
  log(line: string): void
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
          options.texts === undefined ? {} : { texts: await textsOf(folder, options.texts) }
        const edits = decide({ ...folder, ...texts })
        mustBeReadable(catalog.entry(id)!, edits)
        const [first, ...others] = edits
        if (first && !(await write(id, first, attempt))) continue
        await follow(id, folder, others)
        return catalog.folder(id)!
      }
    })
  }

  function textsOf(folder: CaseFolder, sessionId: string): Promise<SessionTexts> {
    const { case_id, number } = sessionOf(folder, sessionId)
    return needs.texts.ofSession(case_id, catalog.entry(case_id)?.sessions.get(number))
  }

  /** False when somebody saved the file meanwhile: then all is decided anew. */
  async function write(id: string, edit: Edit, attempt: number): Promise<boolean> {
    const known = catalog.entry(id)!
    try {
      const prepared = await prepareEdit(layout, known, edit)
      await writePrepared(prepared)
      await apply(known, edit, prepared.text)
    } catch (error) {
      if (!isChanged(error) || attempt >= ATTEMPTS) throw error
      return false
    }
    if (edit.file === 'new-session' || edit.file === 'session') await nameLatest(id)
    return true
  }

  /**
   * `latest.md` names the newest session; it is not in git, so a clone's comes with the first write. It
   * is for people's convenience only: the session is there without it.
   */
  async function nameLatest(id: string): Promise<void> {
    try {
      await pointLatest(layout.sessions(id), Math.max(...catalog.entry(id)!.sessions.keys()))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      needs.log(`latest.md of case ${id} was not set: ${error.message}`)
    }
  }

  /**
   * The edits that belong to the first one, which is on disk and cannot be taken back: where somebody
   * saved such a file meanwhile they are made on what stands there now, unless a person has just set
   * the very field, which then stays as he set it.
   */
  async function follow(id: string, decidedOn: CaseFolder, edits: Edit[]): Promise<void> {
    for (const wanted of edits) {
      let edit = wanted
      for (let attempt = 1; !(await write(id, edit, attempt)); attempt++) {
        const present = await current(id)
        if (edit.file === 'session') edit = renumbered(edit, present)
        if (edit.file !== 'case') continue
        if (!catalog.entry(id)!.file.readable) break
        const fields = Object.keys(edit.edit.fields ?? {}) as (keyof Case)[]
        if (fields.some((key) => present.case[key] !== decidedOn.case[key])) break
      }
    }
  }

  /** Takes what was written into the catalog, and tells the change. */
  async function apply(known: CaseEntry, edit: Edit, text: string): Promise<void> {
    const { id } = known
    const entry: CaseEntry = {
      ...known,
      sessions: new Map(known.sessions),
      proofs: new Map(known.proofs),
    }
    const of = { id, title: known.file.value.title }
    if (edit.file === 'case') entry.file = await readCaseRecord(needs, id, known.file, text)
    else if (edit.file === 'session' || edit.file === 'new-session') {
      const number = edit.file === 'session' ? edit.number : edit.session.number
      const before = known.sessions.get(number)
      entry.sessions.set(number, await readSessionRecord(needs, of, number, before, text))
    } else {
      const proofId = edit.file === 'proof' ? edit.id : edit.proof.id
      const before = known.proofs.get(proofId)
      entry.proofs.set(proofId, await readProofRecord(needs, id, proofId, before, text))
    }
    catalog.put(entry)
    publish(differences(known, entry))
  }

  return {
    read: (id) => mutex.run(id, () => current(id)),
    update,
    async create(value) {
      return mutex.run(value.id, async () => {
        needs.writable()
        const text = await newCaseText(value)
        mustFit(CASE_FILE, text, MAX_CASE_BYTES)
        if (await makeMemoryRoot(layout)) await needs.onMemoryRoot()
        await createCaseFolder(layout, value.id, text)
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

/** The same lines behind those that the trail has now. */
function renumbered(edit: Edit & { file: 'session' }, { sessions }: CaseFolder): typeof edit {
  const trail = sessions.find((session) => session.number === edit.number)?.trail ?? []
  const first = nextTrailNumber(trail)
  const lines = edit.edit.lines?.map((line, index) => ({ ...line, number: first + index }))
  return lines ? { ...edit, edit: { ...edit.edit, lines } } : edit
}
