import { CASE_FILE, MAX_CASE_BYTES, newCaseText } from '../markdown/case-file.ts'
import type { Case } from '../model/case.ts'
import { type CaseFolder, type Decide, sessionOf } from '../model/case-folder.ts'
import { Refusal } from '../model/refusal.ts'
import type { SessionTexts } from '../model/session.ts'
import { createCaseFolder, makeMemoryRoot } from './case-making.ts'
import { createEditWriter, type EditWriterNeeds } from './edit-writer.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import { removeFolder } from './remove-folder.ts'
import type { Scan } from './scan.ts'
import type { Texts } from './texts.ts'
import { mustBeReadable, mustFit } from './write-edit.ts'

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

export interface StoreNeeds extends EditWriterNeeds {
  scan: Scan
  texts: Texts
  mutex: KeyedMutex
  trash: string
  /** Called after the memory root was made. */
  onMemoryRoot(): Promise<void>
  /** Throws when nothing may be written: shutting down, or no longer the owner. */
  writable(): void
}

export function createStore(needs: StoreNeeds): Store {
  const { layout, catalog, scan, mutex } = needs
  const { write, follow } = createEditWriter(needs, current)

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
