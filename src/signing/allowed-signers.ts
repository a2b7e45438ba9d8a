import { join } from 'node:path'
import { createDurable, writeDurable } from '../files/durable-write.ts'
import { readRegular } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import { ALLOWED_SIGNERS, SIGNATURE_NAMESPACE } from '../model/approval-statement.ts'

/** The present bytes, null without a file, and those with the line; null if it is there. */
export interface SignerEdit {
  before: Buffer | null
  after: Buffer | null
}

/**
 * Throws `bad_request` if the file has the key, but not for this time: a second line would take the limit away.
 * Throws `unreadable_file` if the file cannot be read.
 */
export async function planSigner(root: string, line: string): Promise<SignerEdit> {
  const read = await readRegular(join(root, ALLOWED_SIGNERS), { maxBytes: 1024 * 1024 })
  if (!read.ok) {
    if (read.reason === 'missing') return { before: null, after: Buffer.from(`${line}\n`) }
    throw new AppError('unreadable_file', `${ALLOWED_SIGNERS} cannot be read: ${read.detail}.`)
  }
  const lines = linesOfKey(read.bytes.toString('latin1'), line)
  if (lines.some(({ why }) => why === null)) return { before: read.bytes, after: null }
  const [limited] = lines
  if (!limited) {
    const separator = read.bytes.length === 0 || read.bytes.at(-1) === 0x0a ? '' : '\n'
    const more = Buffer.from(`${separator}${line}\n`)
    return { before: read.bytes, after: Buffer.concat([read.bytes, more]) }
  }
  throw new AppError(
    'bad_request',
    `Your key is in ${ALLOWED_SIGNERS} (line ${limited.number}), but ${limited.why}. Nothing was added. Change that line if the key should count again, or sign with another key.`,
  )
}

/** Adds a line to `allowed_signers`, which it creates if necessary. Returns whether it had to write; throws as `planSigner`. */
export async function addSigner(root: string, wanted: string): Promise<boolean> {
  const edit = await planSigner(root, wanted)
  await writeSigner(root, edit)
  return edit.after !== null
}

export async function writeSigner(root: string, { before, after }: SignerEdit): Promise<void> {
  if (after === null) return
  const path = join(root, ALLOWED_SIGNERS)
  if (before === null) await createDurable(path, after)
  else await writeDurable(path, after, { expect: before })
}

/** What an operator should do so that this key may sign, as sentences. */
export async function signerAdvice(root: string, line: string): Promise<string> {
  try {
    await planSigner(root, line)
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad_request') return error.message
    throw error
  }
  return `To allow your key, add this line to ${ALLOWED_SIGNERS} beside casefile.md:\n${line}`
}

/** The lines that let this key approve, and why one does not now. */
function linesOfKey(text: string, own: string): { number: number; why: string | null }[] {
  const key = own.trim().split(/\s+/).at(-1)!
  const now = new Date()
  return text.split(/\r?\n/).flatMap((line, index) => {
    const isKey = !line.trimStart().startsWith('#') && line.split(/\s+/).includes(key)
    const [, namespaces = null] = /(?:^|[\s,])namespaces="?([^"\s]*)/i.exec(line) ?? []
    const isForApprovals = namespaces?.split(',').some((each) => NAMESPACES.includes(each)) ?? true
    if (!isKey || !isForApprovals || /(?:^|[\s,])cert-authority[\s,]/i.test(line)) return []
    return [{ number: index + 1, why: whyNotNow(line, now) }]
  })
}

const NAMESPACES = [SIGNATURE_NAMESPACE, '*']

function whyNotNow(line: string, now: Date): string | null {
  const [before, after] = ['valid-before', 'valid-after'].map((name) => {
    const [, time] = new RegExp(`(?:^|[\\s,])${name}="?(\\d{8,14}Z?)`, 'i').exec(line) ?? []
    return time === undefined ? null : { time, at: timeOf(time) }
  })
  if (before && before.at <= now) return `it expired (valid-before="${before.time}")`
  if (after && after.at > now) return `it does not count yet (valid-after="${after.time}")`
  return null
}

/** `YYYYMMDD[HHMM[SS]]`, in local time unless it ends in Z, as in ssh-keygen(1). */
function timeOf(text: string): Date {
  const part = (from: number, to: number) => text.replace('Z', '').slice(from, to) || '00'
  const iso = `${part(0, 4)}-${part(4, 6)}-${part(6, 8)}T${part(8, 10)}:${part(10, 12)}:${part(12, 14)}`
  return new Date(text.endsWith('Z') ? `${iso}Z` : iso)
}
