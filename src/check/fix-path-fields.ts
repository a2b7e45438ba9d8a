import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { MAX_CASE_BYTES } from '../markdown/case-file.ts'
import { readDocument } from '../markdown/document.ts'
import { withFields } from '../markdown/field-edit.ts'
import { MAX_PROOF_BYTES } from '../markdown/proof-file.ts'
import { MAX_SESSION_BYTES } from '../markdown/session-file.ts'
import { readTrail } from '../markdown/trail.ts'
import type { Problem } from '../model/problem.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import type { Fixer } from './fixer.ts'
import { editText } from './text-edit.ts'

/** A record file, and those of its fields that repeat its path. */
interface PathFile {
  path: string
  maxBytes: number
  problems: readonly Problem[]
  /** The field with the case's id. */
  caseKey: 'id' | 'case_id'
  expected: Record<string, string>
}

/**
 * Corrects `id` and `case_id` if they contradict the file's path and the path is certainly right: the case they
 * name exists as well (so this is a copy), or another file in the folder has the folder's id. A folder that was
 * renamed as a whole may just need its old name back. Sealed sessions are never changed, and a verified proof of
 * another case does not become proof of this one.
 */
export async function fixPathFields(fixer: Fixer, entry: CaseEntry): Promise<void> {
  const { layout, catalog } = fixer.snapshot
  const files = filesWithPathFields(fixer, entry)
  const wrong = files.filter((file) => file.problems.some(isMisplaced))
  if (wrong.length === 0) return
  const within = layout.caseFolder(entry.id)
  const named = await Promise.all(files.map((file) => namedCase(file, within)))
  const isSure = named.includes(entry.id)
  for (const file of wrong) {
    await fixer.fix(file.path, async () => {
      const reported: string[] = []
      const edited = await editText(file.path, { maxBytes: file.maxBytes, within }, (text) => {
        if (isSealed(text) || isVerifiedElsewhere(text, entry.id)) return text
        const fields = Object.entries(file.expected).filter(([key, expected]) => {
          const stated = statedIn(text, key)
          if (stated === null || stated === expected) return false
          return key !== file.caseKey || isSure || catalog.entry(stated) !== undefined
        })
        reported.push(
          ...fields.map(([key, is]) => `${key} is now ${is} instead of ${statedIn(text, key)}`),
        )
        return withFields(text, fields)
      })
      return edited ? reported.join('; ') : null
    })
  }
}

function filesWithPathFields(
  { snapshot }: Fixer,
  { id, file, sessions, proofs }: CaseEntry,
): PathFile[] {
  const { layout, isRunningHere } = snapshot
  return [
    {
      path: layout.caseFile(id),
      maxBytes: MAX_CASE_BYTES,
      problems: file.problems,
      caseKey: 'id',
      expected: { id },
    },
    ...[...sessions].map(([number, record]) => ({
      path: layout.sessionFile(id, number),
      maxBytes: MAX_SESSION_BYTES,
      problems: record.value && isRunningHere(record.value.id) ? [] : record.problems,
      caseKey: 'case_id' as const,
      expected: { case_id: id },
    })),
    ...[...proofs].map(([proofId, record]) => ({
      path: layout.proofFile(id, proofId),
      maxBytes: MAX_PROOF_BYTES,
      problems: record.problems,
      caseKey: 'case_id' as const,
      expected: { id: proofId, case_id: id },
    })),
  ]
}

function isMisplaced({ code, file }: Problem): boolean {
  return code === 'id_mismatch' || (code === 'duplicate_id' && file === 'case.md')
}

/** Someone verified that this proof proves another case. */
function isVerifiedElsewhere(text: string, id: string): boolean {
  const stated = statedIn(text, 'case_id')
  return stated !== null && stated !== id && statedIn(text, 'verified') === 'true'
}

async function namedCase(
  { path, maxBytes, caseKey }: PathFile,
  within: string,
): Promise<string | null> {
  const read = await readRegular(path, { maxBytes, within })
  const text = read.ok ? decodeUtf8(read.bytes) : null
  return text?.ok ? statedIn(text.text, caseKey) : null
}

/** The value of a frontmatter field; null if it is missing or the frontmatter is unreadable. */
export function statedIn(text: string, key: string): string | null {
  const read = readDocument(text)
  const value = read.ok ? read.document.fields?.get(key)?.value : null
  return value === null || value === undefined || typeof value === 'object' ? null : String(value)
}

export function isSealed(text: string): boolean {
  return readTrail(text)?.lines.some((each) => each.line.event === 'session_sealed') ?? false
}
