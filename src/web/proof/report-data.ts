import { resolve } from 'node:path'
import { LRUCache } from 'lru-cache'
import { stampOf } from '../../files/safe-read.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { contentHash } from '../../markdown/proof-file.ts'
import { looksLikeReport } from '../../markdown/report-shape.ts'
import { AppError } from '../../model/app-error.ts'
import type { CaseContents } from '../../model/case-contents.ts'
import type { FailedTest } from '../../model/failed-test.ts'
import { typeByName } from '../../model/proof-type.ts'
import type { Candidate, Session } from '../../model/session.ts'
import { hasEnded } from '../../model/session-state.ts'
import { artifactPath, isArtifactOf, readArtifact } from '../../runners/output/artifacts.ts'
import { openReportReader } from '../../runners/reports/report-reader.ts'
import type { ReportedTests } from '../../runners/reports/reported-tests.ts'

type Layout = HttpDeps['layout']

/** The tests of one report. */
export interface Report extends ReportedTests {
  /** Null for the content of a proof, and for what a session's file keeps. */
  artifact: string | null
}

const cache = new LRUCache<string, { tests: ReportedTests | null }>({
  maxSize: 20_000,
  sizeCalculation: ({ tests }) => 1 + (tests?.tests.length ?? 0),
})

/** The tests in a file that a session left; null if it is not a report that can be read. */
export async function loadArtifactTests(
  layout: Layout,
  contents: CaseContents,
  artifact: string,
): Promise<Report | null> {
  const { id } = contents.case
  const stamp = await stampOf(artifactPath(layout, id, artifact))
  if (stamp === null) return null
  const key = `${id}/${artifact} ${stamp.size} ${stamp.mtimeMs} ${stamp.ino}`
  const found = await cached(key, async () => {
    try {
      return await readArtifact(layout, id, artifact, undefined, true)
    } catch (error) {
      if (error instanceof AppError) return null // too large, or no regular file
      throw error
    }
  })
  return found && { ...withoutFolders(found, layout, contents), artifact }
}

/** The tests in the content of a proof; null if it is not a report that can be read. */
export async function loadContentTests(
  layout: Layout,
  contents: CaseContents,
  content: string,
): Promise<Report | null> {
  const found = await cached(contentHash(content), () => Promise.resolve(content))
  return found && { ...withoutFolders(found, layout, contents), artifact: null }
}

const MAX_REPORTS = 5
const MAX_CANDIDATES = 50

/** The reports of a finished session that are on this machine. */
export async function loadSessionReports(
  layout: Layout,
  contents: CaseContents,
  { number, state, tests }: Session,
  candidates: readonly Candidate[],
): Promise<Report[]> {
  if (!hasEnded(state) || tests === null) return []
  const names = candidates
    .map(({ artifact }) => artifact)
    .filter((name) => isArtifactOf(name, number) && typeByName(name) !== 'diff')
  const reports: Report[] = []
  for (const name of names.slice(0, MAX_CANDIDATES)) {
    if (reports.length === MAX_REPORTS) break
    const report = await loadArtifactTests(layout, contents, name)
    if (report) reports.push(report)
  }
  return reports
}

/** What a session's or a proof's file keeps of a report that is not here. */
export function keptReport(
  failed: readonly FailedTest[],
  counts: { failed: number } | null,
): Report {
  return {
    artifact: null,
    omitted: Math.max(0, (counts?.failed ?? 0) - failed.length),
    tests: failed.map(({ name, message, file, line }) => ({
      path: [name],
      outcome: 'failed',
      message,
      file,
      line,
      output: '',
    })),
  }
}

async function cached(
  key: string,
  text: () => Promise<string | null>,
): Promise<ReportedTests | null> {
  const known = cache.get(key)
  if (known) return known.tests
  const reading = last.then(() => read(text))
  last = reading.catch(() => null) // the caller handles the error
  const tests = await reading
  cache.set(key, { tests })
  return tests
}

/** One report at a time, so that large ones do not use all processors. */
let last: Promise<unknown> = Promise.resolve()

async function read(text: () => Promise<string | null>): Promise<ReportedTests | null> {
  const content = await text()
  if (content === null || !looksLikeReport(content)) return null
  const reader = openReportReader()
  try {
    return await reader.readTests(content)
  } finally {
    await reader.close()
  }
}

/** Makes paths relative to the working folder. */
function withoutFolders(
  found: ReportedTests,
  { root }: Layout,
  contents: CaseContents,
): ReportedTests {
  const folders = [resolve(root, contents.case.workdir ?? '.'), root].map((path) => `${path}/`)
  const short = (text: string) => folders.reduce((rest, path) => rest.replaceAll(path, ''), text)
  const tests = found.tests.map((test) => ({
    ...test,
    message: test.message === null ? null : short(test.message),
    file: test.file === null ? null : short(test.file),
    output: short(test.output),
  }))
  return { tests, omitted: found.omitted }
}
