import type { Client } from '../../client/client.ts'
import type { MemoryFileJson } from '../../http/schemas/memory.ts'
import type { PlannedCase } from '../../import/plan.ts'
import { AppError } from '../../model/app-error.ts'

/** How many requests run at the same time. */
const LANES = 16

const IF_NEW = { 'if-none-match': '*', 'casefile-client': 'import' }

export interface MakeOptions {
  /** Ids of existing cases. */
  known: ReadonlySet<string>
  /** Called for each case that was created. */
  onMade(planned: PlannedCase): void
}

/**
 * Creates the cases that do not exist yet, and changes no others. Stops at the first error, which names the case;
 * repeating the import continues from there.
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
        if (known.has(each.id)) await completeNotes(client, each)
        else if (await make(client, each)) onMade(each)
      } catch (error) {
        failed ??= error instanceof AppError ? named(each, error) : error
      }
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  if (failed !== null) throw failed
}

/** Returns false if the case was created meanwhile. */
async function make(client: Client, planned: PlannedCase): Promise<boolean> {
  if (!(await put(client, planned, 'case.md', planned.caseText))) return false
  await put(client, planned, planned.notesFile, planned.notes)
  return true
}

/** Completes an import that stopped between the two files of a case, unless the case was edited. */
async function completeNotes(client: Client, planned: PlannedCase): Promise<void> {
  const files = (await client.request('GET', `/cases/${planned.id}/memory`))
    .body as MemoryFileJson[]
  if (files.some(({ filename }) => filename === planned.notesFile)) return
  const present = await client.rawRequest('GET', `/cases/${planned.id}/memory/case.md`)
  if (present.status !== 200 || !isSame(present.bytes, planned.caseText)) return
  await put(client, planned, planned.notesFile, planned.notes)
}

function isSame(bytes: Uint8Array, text: string): boolean {
  return Buffer.from(text).equals(bytes)
}

/** Returns false if the file exists. */
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
      error instanceof AppError && ['precondition_failed', 'already_exists'].includes(error.code)
    if (isThere) return false
    throw error
  }
}

function named({ entry }: PlannedCase, { code, message, errors, extra }: AppError): AppError {
  const text = `The import stopped at ${entry}: ${message} Cases created before stay. Repeat the import to continue.`
  return new AppError(code, text, { errors, extra })
}
