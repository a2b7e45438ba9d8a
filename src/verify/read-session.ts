import { relative, sep } from 'node:path'
import type { Snapshot } from '../check/snapshot.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { MAX_SESSION_BYTES, sha256 } from '../markdown/session-file.ts'
import { testsBefore } from '../model/before-run.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { approverIn } from '../model/history.ts'
import type { Session } from '../model/session.ts'
import { standingApproval } from '../model/trail.ts'
import { signatureOf } from '../signing/approval-signature.ts'
import type { ClaimedSession } from './result.ts'

export interface ReadContext {
  snapshot: Snapshot
  /** The top of the repository that has the code; null without one. */
  top: string | null
  /** The text of `allowed_signers` that counts; without it, the workspace's. */
  signers?: string
}

export interface ReadSession {
  described: ClaimedSession
  /** The whole file. */
  text: string
  plan: string
  /** Why its bytes are not those that the service wrote, as phrases. */
  changed: string[]
}

/** Reads the file of a session and the signature of its approval. Null if the file cannot be read. */
export async function readSession(
  { case: { title } }: CaseContents,
  session: Session,
  { snapshot, top, signers }: ReadContext,
): Promise<ReadSession | null> {
  const { layout, catalog, texts } = snapshot
  const { case_id, number, trail } = session
  const path = layout.sessionFile(case_id, number)
  const within = layout.caseFolder(case_id)
  const read = await readRegular(path, { maxBytes: MAX_SESSION_BYTES, within })
  const decoded = read.ok ? decodeUtf8(read.bytes) : null
  const record = catalog.entry(case_id)?.sessions.get(number)
  if (!decoded?.ok || !record) return null
  const { text } = decoded
  const reading = await texts.session(case_id, record)
  const approved = standingApproval(trail)
  const { by, via } = approverIn(approved?.fields ?? {})
  return {
    text,
    plan: reading.value?.plan ?? '',
    changed: [...record.problems, ...reading.problems]
      .filter(({ code }) => code === 'session_changed')
      .map(({ message }) => message),
    described: {
      case_title: title,
      session_id: session.id,
      number,
      file: fileName(path, top, layout.memoryRoot),
      file_sha256: sha256(text),
      provider: session.provider,
      state: session.state,
      plan_sha256: session.plan_sha256,
      approved_at: approved?.time ?? null,
      approved_by: by,
      approved_via: via,
      completed_at: session.completed_at,
      tests: session.tests,
      tests_before: testsBefore(trail),
      signature: await signatureOf(layout, session, signers),
    },
  }
}

/** Relative to the top of the code's repository if it is below it, else to the memory root. */
export function fileName(path: string, top: string | null, memoryRoot: string): string {
  const inCode = top === null ? null : relative(top, path)
  const isInCode = inCode !== null && inCode !== '..' && !inCode.startsWith(`..${sep}`)
  return isInCode ? inCode : relative(memoryRoot, path)
}
