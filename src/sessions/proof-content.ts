import { constants } from 'node:os'
import { hashOf } from '../files/decoded.ts'
import { yieldIfBusy } from '../files/yielding.ts'
import { contentHash } from '../markdown/proof-file.ts'
import { looksLikeReport, unreadReport } from '../markdown/report-shape.ts'
import { countsWith } from '../markdown/session-evidence.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseContents, type Edit, proofOf } from '../model/case-contents.ts'
import { sessionForProof } from '../model/decide-proof.ts'
import { MAX_FAILED_TESTS } from '../model/failed-test.ts'
import type { Actor } from '../model/history.ts'
import { pictureFacts, pictureName } from '../model/picture.ts'
import type { Counted, Proof, ReportCounts } from '../model/proof.ts'
import { leavesReport, stepOfArtifact, typeByName } from '../model/proof-type.ts'
import type { Session } from '../model/session.ts'
import type { TrailStep } from '../model/trail-steps.ts'
import { readArtifact } from '../runners/output/artifacts.ts'
import {
  openReportReader,
  type ReportReader,
  type ReportReading,
} from '../runners/reports/report-reader.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { Layout } from '../workspace/layout.ts'
import type { Texts } from '../workspace/long-texts.ts'
import type { RecordFile } from '../workspace/record-file.ts'
import type { Store } from '../workspace/store.ts'
import { changedText, isOtherText } from './changed-artifacts.ts'

export const MAX_PROOF_CONTENT_BYTES = 10 * 1024 * 1024

interface ProofDeps {
  layout: Layout
  catalog: Catalog
  store: Store
  texts: Texts
}

interface CandidateContent {
  content: string
  /** The exit code of the step that printed it; null if that was 0 or there is no such step. */
  exit_code: number | null
  /** Whether the step was expected to leave a test report: if it did not, no test ran. */
  isReport: boolean
  /** The type that its name says; null leaves it to the content. */
  named: 'diff' | null
}

/**
 * Reads an artifact that a session lists as a proof candidate. The session is `wanted`, else the one whose number
 * begins the artifact's name, else the newest finished one. Throws `bad_request` if that session does not list it
 * or if the file is not on this machine.
 */
export async function candidateContent(
  { layout, catalog, store, texts }: ProofDeps,
  id: string,
  artifact: string,
  wanted: string | null | undefined,
): Promise<CandidateContent> {
  const contents = await store.read(id)
  const implied = impliedSession(artifact, contents, wanted).session_id ?? wanted
  const session = sessionForProof(contents, implied ?? undefined)
  const record = session && catalog.entry(id)?.sessions.get(session.number)
  const reading = record ? await texts.session(id, record) : null
  const names = reading?.value?.candidates.map((each) => each.artifact) ?? []
  if (!session || !names.includes(artifact)) throw notACandidate(artifact, names)
  const content = await readArtifact(layout, id, artifact, MAX_PROOF_CONTENT_BYTES)
  if (content !== null) {
    const step = stepOfArtifact(session, artifact)
    if (isOtherText(content, { name: artifact, step, trail: session.trail }))
      throw changedError(artifact)
    const named = typeByName(artifact) === 'diff' ? 'diff' : null
    return { content, exit_code: exitCodeOf(step), isReport: leavesReport(step), named }
  }
  throw notOnThisMachine(artifact, session.number)
}

/** The exit code of the step that left an artifact; null if it was 0 or there is no such step. */
export function artifactExitCode(session: Session, artifact: string): number | null {
  return exitCodeOf(stepOfArtifact(session, artifact))
}

/** The exit code as a shell would report it: 128 + the signal's number for a signal. */
function exitCodeOf(step: TrailStep | undefined): number | null {
  if (!step?.finished) return null // the session has failed, which is reason enough
  const { exit, signal, start_error } = step.finished.fields
  if (typeof exit === 'number') return exit === 0 ? null : exit
  const ofSignal = constants.signals[String(signal) as NodeJS.Signals]
  return ofSignal === undefined ? (start_error ? 127 : 1) : 128 + ofSignal
}

/** The session whose number begins the artifact's name, unless the request names a session. */
export function impliedSession(
  artifact: string | undefined,
  contents: CaseContents,
  wanted: string | null | undefined,
): { session_id?: string } {
  if (artifact === undefined || wanted !== undefined) return {}
  const number = Number(artifact.split('-')[0])
  const session = contents.sessions.find((each) => each.number === number)
  return session ? { session_id: session.id } : {}
}

function changedError(artifact: string): AppError {
  return new AppError(
    'bad_request',
    `${changedText(artifact)}. Run the session again, or attach what you saw as text.`,
    { errors: [{ path: 'artifact', message: 'changed after the run' }] },
  )
}

function notACandidate(artifact: string, names: readonly string[]): AppError {
  const came = `"${artifact.slice(0, 80)}"`
  const known = names.length
    ? `expected one of ${names.join(', ')}`
    : 'that session has no proof candidates'
  return new AppError('bad_request', `${came} is not a proof candidate of a finished session.`, {
    errors: [{ path: 'artifact', message: `got ${came}, ${known}` }],
  })
}

/** Artifacts are not in git, so a clone has session files that list artifacts it does not have. */
function notOnThisMachine(artifact: string, number: number): AppError {
  return new AppError(
    'bad_request',
    `Session ${number} lists ${artifact}, but the file is not here: artifacts stay on the machine that made them. Send the text as content.`,
    { errors: [{ path: 'artifact', message: `${artifact} is not in artifacts/ on this machine` }] },
  )
}

/** The hash of a content, and the test counts if it is a test report. */
export async function countContent(content: string): Promise<Counted> {
  await yieldIfBusy() // each step takes long for a large content
  const sha256 = contentHash(content)
  await yieldIfBusy()
  const isReport = looksLikeReport(content)
  await yieldIfBusy()
  const image = null
  const none = {
    sha256,
    image,
    tests: null,
    failed_tests: [],
    flaky_tests: [],
    unread: unreadReport(content),
  }
  if (!isReport) return none
  waiting += 1
  const reading = last.then(() => readReport(content))
  last = reading.catch(() => {}) // the caller handles the error
  const { tests, failed_tests, flaky_tests } = countsOf(await reading)
  return tests === null ? none : { sha256, image, tests, failed_tests, flaky_tests, unread: null }
}

/** The hash and size of the picture of a proof; null if the bytes are not a picture. */
export function countPicture(proofId: string, bytes: Uint8Array): Counted | null {
  const facts = pictureFacts(bytes)
  if (!facts) return null
  const name = pictureName(proofId, facts.type)
  return {
    sha256: hashOf(bytes),
    image: { name, ...facts, bytes: bytes.byteLength },
    tests: null,
    failed_tests: [],
    flaky_tests: [],
    unread: null,
  }
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
function countsOf(reading: ReportReading): Pick<Counted, 'tests' | 'failed_tests' | 'flaky_tests'> {
  if (!reading.results) {
    const isReport = 'reason' in reading // it looked like one, and could not be read
    const tests: ReportCounts | null = isReport
      ? { run: 0, passed: 0, failed: 0, incomplete: true }
      : null
    return { tests, failed_tests: [], flaky_tests: [] }
  }
  const { run, passed, failed, ok, failures, flaky } = reading.results
  const counts = countsWith({ run, passed, failed }, flaky?.count)
  return {
    tests: ok || failed > 0 ? counts : { ...counts, incomplete: true },
    failed_tests: failures.slice(0, MAX_FAILED_TESTS),
    flaky_tests: flaky?.names ?? [],
  }
}

async function countProof(
  texts: Texts,
  caseId: string,
  record: RecordFile<Proof | null>,
): Promise<Counted> {
  const image = record.value?.image
  if (!image) return countContent(await texts.proof(caseId, record))
  const counted = countPicture(record.value!.id, await texts.picture(caseId, image))
  if (counted?.image?.name === image.name) return counted
  const what = counted ? 'a picture of another type' : 'no picture'
  throw new AppError(
    'unreadable_file',
    `artifacts/${image.name} is ${what} now. Restore the file, or attach the picture again.`,
  )
}

const ATTEMPTS = 20

/**
 * Changes a proof together with the test counts of its content. Counting takes time: if the file changes meanwhile,
 * it counts again.
 */
export async function updateCounted(
  { store, catalog, texts }: Omit<ProofDeps, 'layout'>,
  caseId: string,
  proofId: string,
  decide: (contents: CaseContents, counted: Counted) => Edit[],
  by?: Actor,
): Promise<CaseContents> {
  const hashNow = () => catalog.entry(caseId)?.proofs.get(proofId)?.hash
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    proofOf(await store.read(caseId), proofId)
    const record = catalog.entry(caseId)!.proofs.get(proofId)!
    const counted = await countProof(texts, caseId, record)
    let isStale = false
    const change = (present: CaseContents) => {
      isStale = hashNow() !== record.hash
      return isStale ? [] : decide(present, counted)
    }
    const contents = await store.update(caseId, change, by ? { by } : {})
    if (!isStale) return contents
  }
  throw new AppError(
    'changed_meanwhile',
    `proof/${proofId}.md keeps changing, so nothing was written. Try again once no other program is saving it.`,
  )
}
