import { contentHash } from '../markdown/proof-file.ts'
import { looksLikeReport } from '../markdown/report-shape.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseFolder, type Edit, proofOf } from '../model/case-folder.ts'
import { MAX_FAILED_TESTS } from '../model/failed-test.ts'
import type { Actor } from '../model/history.ts'
import type { Counted, ReportCounts } from '../model/proof.ts'
import {
  openReportReader,
  type ReportReader,
  type ReportReading,
} from '../runners/reports/report-reader.ts'
import type { Catalog } from '../workspace/catalog.ts'
import type { Store } from '../workspace/store.ts'
import type { Texts } from '../workspace/texts.ts'

export interface CountDeps {
  store: Store
  catalog: Catalog
  texts: Texts
}

/** The hash of a content, and the test counts if it is a test report. */
export async function countContent(content: string): Promise<Counted> {
  const sha256 = contentHash(content)
  if (!looksLikeReport(content)) return { sha256, tests: null, failed_tests: [] }
  waiting += 1
  const reading = last.then(() => readReport(content))
  last = reading.catch(() => {}) // the caller handles the error
  return { sha256, ...countsOf(await reading) }
}

/** Reads one report at a time, so that many large ones do not use all processors. */
let last: Promise<unknown> = Promise.resolve()
let waiting = 0
/** A worker that is open while reports are waiting. */
let reader: ReportReader | null = null

async function readReport(content: string): Promise<ReportReading> {
  const isNew = reader === null
  reader ??= openReportReader()
  try {
    const reading = await reader.read(content)
    const isTired = 'reason' in reading && !isNew // the reports before it took part of its time
    if (!isTired) return reading
    await reader.close()
    reader = openReportReader()
    return await reader.read(content)
  } finally {
    waiting -= 1
    if (waiting === 0) {
      const ending = reader
      reader = null
      await ending.close()
    }
  }
}

/** If a report is cut off, the counts include one failed test for what is missing. */
function countsOf(reading: ReportReading): Pick<Counted, 'tests' | 'failed_tests'> {
  if (!reading.results) {
    const isReport = 'reason' in reading // it looked like one, and could not be read
    const tests: ReportCounts | null = isReport
      ? { run: 0, passed: 0, failed: 0, incomplete: true }
      : null
    return { tests, failed_tests: [] }
  }
  const { run, passed, failed, ok, failures } = reading.results
  const counts = { run, passed, failed }
  return {
    tests: ok || failed > 0 ? counts : { ...counts, incomplete: true },
    failed_tests: failures.slice(0, MAX_FAILED_TESTS),
  }
}

const ATTEMPTS = 20

/**
 * Changes a proof together with the test counts of its content. Counting takes time: if the file changes meanwhile,
 * it counts again.
 */
export async function updateCounted(
  { store, catalog, texts }: CountDeps,
  caseId: string,
  proofId: string,
  decide: (folder: CaseFolder, counted: Counted) => Edit[],
  by?: Actor,
): Promise<CaseFolder> {
  const hashNow = () => catalog.entry(caseId)?.proofs.get(proofId)?.hash
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    proofOf(await store.read(caseId), proofId)
    const record = catalog.entry(caseId)!.proofs.get(proofId)!
    const counted = await countContent(await texts.proof(caseId, record))
    let isStale = false
    const change = (present: CaseFolder) => {
      isStale = hashNow() !== record.hash
      return isStale ? [] : decide(present, counted)
    }
    const folder = await store.update(caseId, change, by ? { by } : {})
    if (!isStale) return folder
  }
  throw new AppError(
    'changed_meanwhile',
    `proof/${proofId}.md keeps changing, so nothing was written. Try again once no other program is saving it.`,
  )
}
