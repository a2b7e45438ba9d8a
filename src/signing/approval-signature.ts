import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { createDurable, writeDurable } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import { readRegular } from '../files/safe-read.ts'
import { serviceProgram } from '../files/service-program.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import {
  ALLOWED_SIGNERS,
  type Approval,
  approvalStatement,
  type CheckedSignature,
  readStatement,
  SIGNATURE_NAMESPACE,
} from '../model/approval-statement.ts'
import type { Session } from '../model/session.ts'
import { SETTINGS_FILE, type Settings } from '../model/settings.ts'
import { standingApproval } from '../model/trail.ts'
import type { Layout } from '../workspace/layout.ts'

const MAX_BYTES = 64 * 1024
const MAX_SIGNERS_BYTES = 1024 * 1024
/** How far the signed time may be from the time of the approval. */
const MAX_DELAY_MS = 10 * 60_000

/** What a request sends: the time in the signed statement, and the signature in the form that `ssh-keygen` writes. */
export interface SentSignature {
  signed_at: string
  ssh: string
}

/**
 * Checks the signature of an approval. Throws `signature_required` if casefile.md asks for one, and `bad_signature`
 * unless a key in `allowed_signers` signed exactly this approval within the last minutes. Returns what stores it beside
 * the session. Call that right before the approval is recorded, when no other one can be: it replaces their files.
 */
export async function takeSignature(
  approved: Omit<Approval, 'signed_at'>,
  signature: SentSignature | undefined,
  {
    layout,
    number,
    now,
    signApprovals,
  }: { layout: Layout; number: number; now: string } & Pick<Settings, 'signApprovals'>,
): Promise<() => Promise<void>> {
  if (!signature) {
    if (!signApprovals) return () => removeSignature(layout, approved)
    throw new AppError(
      'signature_required',
      `Approvals must be signed here (sign_approvals in ${SETTINGS_FILE}). Sign and approve in a terminal: casefile approve ${approved.case_id.slice(0, 8)} ${number}`,
    )
  }
  const approval = { ...approved, signed_at: signature.signed_at }
  const found = isNear(approval.signed_at, now)
    ? await checkSignature(layout.root, approvalStatement(approval), signature.ssh)
    : late(approval.signed_at, now)
  if (found.state !== 'valid') {
    throw new AppError('bad_signature', `The approval was not recorded. ${found.reason}`)
  }
  return () => storeSignature(layout, approval, signature)
}

/** Writes the signed statement and its signature beside the session; replaces those of an approval that failed. */
async function storeSignature(
  layout: Layout,
  approval: Approval,
  { ssh }: SentSignature,
): Promise<void> {
  const within = layout.caseFolder(approval.case_id)
  const path = layout.approvalFile(approval.case_id, approval.session_id)
  for (const [place, text] of [
    [path, approvalStatement(approval)],
    [`${path}.sig`, ssh],
  ] as const) {
    const bytes = Buffer.from(text)
    try {
      await createDurable(place, bytes, { within })
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'already_exists')) throw error
      await writeDurable(place, bytes, { within })
    }
  }
}

/** Removes what an approval left that was signed, and then failed. */
async function removeSignature(
  layout: Layout,
  { case_id, session_id }: Omit<Approval, 'signed_at'>,
): Promise<void> {
  const path = layout.approvalFile(case_id, session_id)
  for (const place of [path, `${path}.sig`]) await rm(place, { force: true })
}

const checked = new LRUCache<string, CheckedSignature>({ max: 500 })

/**
 * The signature of the session's approval; null if it has none, or if the session is not approved. `signers` is the
 * text of the `allowed_signers` that counts; without it, the workspace's.
 */
export async function signatureOf(
  layout: Layout,
  { case_id, id, trail }: Pick<Session, 'case_id' | 'id' | 'trail'>,
  signers?: string,
): Promise<CheckedSignature | null> {
  const approved = standingApproval(trail)
  if (!approved) return null
  const path = layout.approvalFile(case_id, id)
  const [text, ssh] = await Promise.all([path, `${path}.sig`].map(textAt))
  if (text === null && ssh === null) return null
  if (!text || !ssh)
    return invalid('One of the two files of the signature is missing or unreadable.')
  const signed = readStatement(text)
  if (!signed) return invalid('The signed statement cannot be read.')
  const plan_sha256 = approved.fields.plan_sha256
  if (
    signed.case_id !== case_id ||
    signed.session_id !== id ||
    signed.plan_sha256 !== plan_sha256
  ) {
    return invalid('The signature is for another approval.')
  }
  if (!isNear(signed.signed_at, approved.time)) return late(signed.signed_at, approved.time)
  const found =
    signers === undefined
      ? await checkSignature(layout.root, text, ssh)
      : await checkedAgainst(signers, text, ssh)
  return { ...found, signed_at: signed.signed_at }
}

/**
 * The same beside a plan's text: a valid signature says nothing about a text that was changed after the approval.
 * `planSha256` is the hash of the text that is shown.
 */
export function signatureBeside(
  planSha256: string,
  signature: CheckedSignature | null,
  { trail }: Pick<Session, 'trail'>,
): CheckedSignature | null {
  const approved = standingApproval(trail)
  const isSigned = approved?.fields.plan_sha256 === planSha256
  if (signature === null || signature.state === 'invalid' || isSigned) return signature
  const { signed_at } = signature
  return { ...invalid("The plan's text is not the one that was signed."), signed_at }
}

/** Checks a signature against the workspace's `allowed_signers`. */
async function checkSignature(
  root: string,
  statement: string,
  ssh: string,
): Promise<CheckedSignature> {
  const read = await readRegular(join(root, ALLOWED_SIGNERS), { maxBytes: MAX_SIGNERS_BYTES })
  if (!read.ok && read.reason !== 'missing') {
    return unchecked(`${ALLOWED_SIGNERS} cannot be read: ${read.detail}`)
  }
  return checkedAgainst(read.ok ? read.bytes.toString('latin1') : '', statement, ssh)
}

/** The result is cached by the content of all three texts. */
async function checkedAgainst(
  signers: string,
  statement: string,
  ssh: string,
): Promise<CheckedSignature> {
  const key = sha256(JSON.stringify([statement, ssh, signers]))
  const known = checked.get(key)
  if (known) return known
  const found = await runChecks(statement, ssh, signers)
  if (found.state !== 'unchecked') checked.set(key, found)
  return found
}

async function runChecks(
  statement: string,
  ssh: string,
  signers: string,
): Promise<CheckedSignature> {
  const folder = await mkdtemp(join(tmpdir(), 'casefile-signature-'))
  try {
    const signature = join(folder, 'signature')
    const allowed = join(folder, 'allowed')
    await writeFile(signature, ssh, { mode: 0o600 })
    await writeFile(allowed, signers, { encoding: 'latin1', mode: 0o600 })
    const verify = ['-n', SIGNATURE_NAMESPACE, '-s', signature]
    const intact = await sshKeygen(['-Y', 'check-novalidate', ...verify], statement)
    if (typeof intact === 'string') return unchecked(intact)
    if (intact.exit !== 0) return invalid('The signature does not match the approval.')
    const key = /SHA256:\S+/.exec(intact.stdout)?.[0] ?? null
    const at = ['-O', `verify-time=${statementTime(statement)}`]
    const principals = await sshKeygen(
      ['-Y', 'find-principals', '-s', signature, '-f', allowed, ...at],
      statement,
    )
    if (typeof principals === 'string') return unchecked(principals)
    const [signer = ''] = principals.exit === 0 ? principals.stdout.split(/\r?\n/) : []
    const valid =
      signer === ''
        ? null
        : await sshKeygen(
            ['-Y', 'verify', '-f', allowed, '-I', signer, ...verify, ...at],
            statement,
          )
    if (typeof valid === 'string') return unchecked(valid)
    if (valid?.exit !== 0) {
      return {
        state: 'unknown_signer',
        signer: null,
        key,
        signed_at: null,
        reason: `The key ${key ?? 'of the signature'} is not in ${ALLOWED_SIGNERS}, or was not allowed at that time.`,
      }
    }
    return {
      state: 'valid',
      signer,
      key,
      signed_at: null,
      reason: null,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function unchecked(why: string): CheckedSignature {
  return {
    state: 'unchecked',
    signer: null,
    key: null,
    signed_at: null,
    reason: `The signature was not checked: ${why}.`,
  }
}

function invalid(reason: string): CheckedSignature {
  return {
    state: 'invalid',
    signer: null,
    key: null,
    signed_at: null,
    reason,
  }
}

function isNear(signedAt: string, approvedAt: string): boolean {
  return Math.abs(Date.parse(signedAt) - Date.parse(approvedAt)) <= MAX_DELAY_MS
}

function late(signedAt: string, approvedAt: string): CheckedSignature {
  return invalid(
    `It was signed at ${signedAt}, more than ten minutes from the approval at ${approvedAt}.`,
  )
}

/** Keys can be valid for a time only, so the signature counts for the time when it was made. */
function statementTime(statement: string): string {
  const at = readStatement(statement)?.signed_at ?? new Date(0).toISOString()
  return at.slice(0, 19).replace(/[-:T]/g, '')
}

async function textAt(path: string): Promise<string | null> {
  const read = await readRegular(path, { maxBytes: MAX_BYTES })
  return read.ok ? read.bytes.toString('latin1') : null
}

/** Runs in UTC, as older versions take no time zone. Returns why it could not be run or used, as words. */
function sshKeygen(
  args: string[],
  input: string,
): Promise<{ exit: number; stdout: string } | string> {
  return new Promise<{ exit: number; stdout: string } | string>((resolve) => {
    const options = {
      timeout: 10_000,
      encoding: 'utf8' as const,
      env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
    }
    const child = execFile(serviceProgram('ssh-keygen'), args, options, (error, stdout, stderr) => {
      if (hasCode(error, 'ENOENT')) resolve('ssh-keygen of OpenSSH 8.9 or later was not found')
      else if (error && typeof error.code !== 'number') resolve('ssh-keygen did not answer')
      else if (/(?:unknown|illegal|unsupported) (?:option|operation)|^usage:/im.test(stderr)) {
        resolve('this ssh-keygen is too old; OpenSSH 8.9 or later can do it')
      } else resolve({ exit: error ? Number(error.code) : 0, stdout })
    })
    child.stdin?.on('error', () => {}) // it ended before it read the statement; its exit code says why
    child.stdin?.end(input)
  }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return 'ssh-keygen of OpenSSH 8.9 or later was not found'
    throw error
  })
}
