import { editedCase } from '../markdown/case-file.ts'
import { contentHash, newProofText, readProof, verifiedProof } from '../markdown/proof-file.ts'
import { editedSession, newSessionText } from '../markdown/session-texts.ts'
import type { Edit } from '../model/case-folder.ts'
import { Refusal } from '../model/refusal.ts'
import { makeInnerFolder } from './case-making.ts'
import type { CaseEntry } from './catalog.ts'
import { createDurable, writeDurable } from './durable-write.ts'
import { pointLatest } from './latest-link.ts'
import type { Layout } from './layout.ts'
import { hashOf, type RecordFile } from './record.ts'
import { decodeUtf8, readRegular } from './safe-read.ts'

/**
 * Writes one edit of a case to its file: the file is read, the edit becomes range edits of its text,
 * and the result replaces it only if it still holds the bytes that were read. A file that is not
 * what the decision was made on is `changed_meanwhile`, a broken one `unreadable_file`.
 */
export async function writeEdit(layout: Layout, entry: CaseEntry, edit: Edit): Promise<void> {
  const { id } = entry
  switch (edit.file) {
    case 'case':
      return replace(
        layout.caseFile(id),
        'case.md',
        entry.file,
        layout.caseFolder(id),
        (text, value) => editedCase(text, value, edit.edit),
      )
    case 'session': {
      const file = `sessions/${edit.number}.md`
      const path = layout.sessionFile(id, edit.number)
      const record = known(entry.sessions.get(edit.number), file)
      return replace(path, file, record, layout.caseFolder(id), (text, value) =>
        editedSession(text, value, edit.edit),
      )
    }
    case 'proof': {
      const file = `proof/${edit.id}.md`
      const record = known(entry.proofs.get(edit.id), file)
      const path = layout.proofFile(id, edit.id)
      return replace(path, file, record, layout.caseFolder(id), async (text, value) => {
        const { content } = readProof(text, value)
        return verifiedProof(text, edit.verified_at, contentHash(content))
      })
    }
    case 'new-session': {
      const text = await newSessionText(edit.session)
      await makeInnerFolder(layout.sessions(id))
      await createDurable(layout.sessionFile(id, edit.session.number), Buffer.from(text), {
        within: layout.caseFolder(id),
      })
      await pointLatest(layout.sessions(id), edit.session.number)
      return
    }
    case 'new-proof':
      await makeInnerFolder(layout.proofs(id))
      return createDurable(
        layout.proofFile(id, edit.proof.id),
        Buffer.from(newProofText(edit.proof, edit.content)),
        { within: layout.caseFolder(id) },
      )
    default:
      return edit satisfies never
  }
}

const LIMIT = 16 * 1024 * 1024

async function replace<T>(
  path: string,
  file: string,
  record: RecordFile<T>,
  folder: string,
  change: (text: string, value: T) => Promise<string>,
): Promise<void> {
  if (!record.readable) throw unreadable(file, record)
  const read = await readRegular(path, { maxBytes: LIMIT, within: folder })
  if (!read.ok || hashOf(read.bytes) !== record.hash) {
    throw new Refusal(
      'changed_meanwhile',
      `${file} was changed by somebody else meanwhile; nothing was written. Try again.`,
    )
  }
  const text = decodeUtf8(read.bytes)
  if (!text.ok) throw unreadable(file, record)
  const edited = await change(text.text, record.value)
  if (edited === text.text) return
  await writeDurable(path, Buffer.from(edited), { expect: read.bytes, within: folder })
}

function known<T>(record: RecordFile<T | null> | undefined, file: string): RecordFile<T> {
  if (record?.value != null) return record as RecordFile<T>
  if (record) throw unreadable(file, record)
  throw new Refusal('changed_meanwhile', `${file} is gone; nothing was written.`)
}

export function unreadable(file: string, record: Pick<RecordFile<unknown>, 'problems'>): Refusal {
  const [problem] = record.problems
  const where = problem?.line ? `, line ${problem.line}` : ''
  return new Refusal(
    'unreadable_file',
    `${file} cannot be read as it stands (${problem?.code}${where}: ${problem?.message}), so it is not written over. Mend it in an editor, then try again.`,
    { extra: { problem } },
  )
}
