import type { Client } from '../../client/client.ts'
import type { PlannedCase } from '../../import/import-plan.ts'
import { NOTES_FILE } from '../../import/issue-notes.ts'
import { Refusal } from '../../model/refusal.ts'

/** So many requests wait for the disk together. */
const LANES = 16

const IF_NEW = { 'if-none-match': '*', 'casefile-client': 'import' }

export interface MakeOptions {
  /** The cases that are there. */
  known: ReadonlySet<string>
  /** Called with each that was made. */
  onMade(planned: PlannedCase): void
}

/**
 * Makes the cases that are not there yet; what is there is left as it is. Where one cannot be made no further
 * one is begun, and the refusal says which it was: the same import goes on from there.
 */
export async function makeCases(
  client: Client,
  planned: readonly PlannedCase[],
  { known, onMade }: MakeOptions,
): Promise<void> {
  const waiting = planned.values()
  let failed: unknown = null
  const lane = async () => {
    for (const each of waiting) {
      if (failed !== null) return
      try {
        if (known.has(each.id)) await mendNotes(client, each)
        else if (await make(client, each)) onMade(each)
      } catch (error) {
        failed ??= error instanceof Refusal ? named(each, error) : error
      }
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  if (failed !== null) throw failed
}

/** False where somebody else made it meanwhile. */
async function make(client: Client, planned: PlannedCase): Promise<boolean> {
  if (!(await put(client, planned, 'case.md', planned.caseText))) return false
  await put(client, planned, NOTES_FILE, planned.notes)
  return true
}

/** An import that was cut short between the two files of a case is finished, unless a person has changed the case. */
async function mendNotes(client: Client, planned: PlannedCase): Promise<void> {
  const files = (await client.request('GET', `/cases/${planned.id}/memory`)).body as Listed[]
  if (files.some(({ filename }) => filename === NOTES_FILE)) return
  const present = await client.rawRequest('GET', `/cases/${planned.id}/memory/case.md`)
  if (present.status !== 200 || !isSame(present.bytes, planned.caseText)) return
  await put(client, planned, NOTES_FILE, planned.notes)
}

interface Listed {
  filename: string
}

function isSame(bytes: Uint8Array, text: string): boolean {
  return Buffer.from(text).equals(bytes)
}

/** False where there is such a file already. */
async function put(
  client: Client,
  { id }: PlannedCase,
  filename: string,
  body: string,
): Promise<boolean> {
  try {
    await client.request('PUT', `/cases/${id}/memory/${filename}`, { body, headers: IF_NEW })
    return true
  } catch (error) {
    const isThere =
      error instanceof Refusal && ['precondition_failed', 'already_exists'].includes(error.code)
    if (isThere) return false
    throw error
  }
}

function named({ name }: PlannedCase, { code, message, errors, extra }: Refusal): Refusal {
  const text = `The import stopped at ${name}: ${message} What was made before stays; the same import goes on from there.`
  return new Refusal(code, text, { errors, extra })
}
