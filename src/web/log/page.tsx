import type { HttpDeps } from '../../http/deps.ts'
import { numberText, sizeText } from '../../model/amounts.ts'
import { type CaseContents, gateOf } from '../../model/case-contents.ts'
import type { Session } from '../../model/session.ts'
import { hasEnded } from '../../model/session-state.ts'
import { stepsOf } from '../../model/trail-steps.ts'
import { type CandidateRow, listCandidates, loadCandidates } from '../../sessions/candidates.ts'
import type { PageAssets } from '../assets.ts'
import { AttachFromHere, DiffLink } from '../proof/candidate-list.tsx'
import { loadArtifactTests, type Report } from '../proof/report-data.ts'
import { outcomesOf, outcomesText, TestTree } from '../proof/test-tree.tsx'
import { artifactFile, logPage, pathTo, sessionPage } from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { Page } from '../shell/page.tsx'
import { Tabs } from '../shell/tabs.tsx'
import { chunkLines, type FilteredLines, filteredLines, type LogSource } from './data.ts'
import { chunkWith, type LogChunk, type LogIndex } from './log-index.ts'
import { type LogLine, LogLines } from './log-lines.tsx'

/** What the address asks for. */
export interface LogQuery {
  /** The page with this line. */
  line: number | null
  /** The page with this number, from 1; lines of any length have pages. */
  page: number | null
  /** The next error after this line. */
  errorAfter: number | null
  filter: string
  /** Null for the usual view: the tests of a report, else the raw text. */
  view: 'tests' | 'raw' | null
}

interface LogPageData {
  contents: CaseContents
  session: Session
  artifact: string
  /** Of the page. */
  address: string
  index: LogIndex
  query: LogQuery
  /** The step is still printing it. */
  isGrowing: boolean
  chunk: LogChunk | null
  /** Of the chunk; empty if the lines are filtered. */
  lines: LogLine[]
  filtered: FilteredLines | null
  /** Null if it is not a test report. */
  report: Report | null
  /** Null if it can't be attached as proof. */
  candidate: CandidateRow | null
}

interface LogRequest {
  service: HttpDeps
  contents: CaseContents
  session: Session
  source: LogSource
  query: LogQuery
}

export async function loadLogPage(request: LogRequest): Promise<LogPageData> {
  const { service, contents, session, source, query } = request
  const { artifact, index } = source
  const found =
    query.page === null ? chunkWith(index, query.line ?? query.errorAfter ?? 1) : query.page - 1
  const chunk = index.chunks[Math.min(found, index.chunks.length - 1)] ?? null
  const step = stepsOf(session.number, session.trail).findLast(({ artifacts }) => {
    return artifacts.log === artifact || artifacts.report === artifact
  })
  const isGrowing = step !== undefined && step.finished === null && !hasEnded(session.state)
  const filtered = query.filter === '' ? null : await filteredLines(source, query.filter)
  const lines = chunk && !filtered ? await chunkLines(source, chunk) : []
  return {
    contents,
    session,
    artifact,
    address: logPage(contents.case.id, session.number, artifact),
    index,
    query,
    isGrowing,
    chunk,
    lines: lines ?? [],
    filtered,
    report: isGrowing ? null : await loadArtifactTests(service.layout, contents, artifact),
    candidate: await loadCandidate(request),
  }
}

async function loadCandidate(request: LogRequest): Promise<CandidateRow | null> {
  const { service, contents, session, source } = request
  if (!hasEnded(session.state)) return null
  const listed = await listCandidates(service, session)
  const found = listed.filter(({ artifact }) => artifact === source.artifact).slice(0, 1)
  const [row] = await loadCandidates(service, contents, session, found)
  return row ?? null
}

/** A log as a terminal shows it. A long one comes in pages. */
export function LogPage({ data, assets }: { data: LogPageData; assets: PageAssets }) {
  const { contents, session, artifact, address, index, isGrowing, report, query, candidate } = data
  const { id, title } = contents.case
  const above = [
    ...pathTo(id, title),
    { href: sessionPage(id, session.number), text: `Session ${session.number}` },
  ]
  const file = artifactFile(session, artifact)
  const showsTests = report !== null && !isRaw(query)
  return (
    <Page title={`${artifact}: ${title}`} assets={assets} kind="log">
      <header class="record-head" id="log-head">
        <Breadcrumbs above={above} current={artifact} />
        <h1 tabindex={-1}>{artifact}</h1>
        <p class="facts">
          <span>{linesText(index.lines)}</span>
          <span>{sizeText(index.size)}</span>
          <a href={file} download={artifact}>
            Download
          </a>
          <a href={file}>View as plain text</a>
          {candidate && <DiffLink row={candidate} />}
        </p>
        {candidate && <AttachFromHere row={candidate} gate={gateOf(contents)} />}
      </header>
      {isGrowing && (
        <p class="notice">
          This step is still running, and this page shows its output so far.{' '}
          <a href={`${sessionPage(id, session.number)}#output`}>Follow it live</a>
        </p>
      )}
      {report && (
        <Tabs
          label="View of the report"
          tabs={[
            { label: 'Tests', href: address, isCurrent: showsTests },
            { label: 'Raw', href: `${address}?view=raw`, isCurrent: !showsTests },
          ]}
        />
      )}
      {report && showsTests ? <TestsView report={report} /> : <RawView data={data} />}
    </Page>
  )
}

/** An address that names a line, a page or a filter is about the text. */
function isRaw({ view, line, page, filter, errorAfter }: LogQuery): boolean {
  if (view !== null) return view === 'raw'
  return line !== null || page !== null || filter !== '' || errorAfter !== null
}

function linesText(count: number): string {
  return `${numberText(count)} ${count === 1 ? 'line' : 'lines'}`
}

/** The most tests that a report gives by name, or nearly so. */
const MAX_TESTS = 5500

function TestsView({ report }: { report: Report }) {
  return (
    <section class="card" id="tests" aria-labelledby="tests-title">
      <header>
        <h2 id="tests-title">Tests</h2>
        <span class="muted small">{outcomesText(outcomesOf(report.tests))}</span>
      </header>
      <TestTree report={report} id="tree" limit={MAX_TESTS} isOpen />
    </section>
  )
}

function RawView({ data }: { data: LogPageData }) {
  const { index, filtered, lines, artifact, query, chunk } = data
  if (index.size === 0) return <p class="muted">It is empty.</p>
  return (
    <section class="card log" id="log" aria-label={`Lines of ${artifact}`}>
      <LogTools data={data} />
      {query.errorAfter !== null && (
        <p class="notice" id="no-more-errors">
          {query.errorAfter === 0
            ? 'No line looks like an error.'
            : `No more errors after line ${numberText(query.errorAfter)}.`}
        </p>
      )}
      {filtered && <FilterSummary data={data} filtered={filtered} />}
      {!filtered && chunk?.isMidLine && (
        <p class="muted small">This page begins within line {numberText(chunk.line)}.</p>
      )}
      <pre class={filtered ? 'terminal log-lines filtered' : 'terminal log-lines'} id="log-lines">
        {filtered ? (
          filtered.lines.map((each) => <FilteredLine data={data} each={each} />)
        ) : (
          <LogLines lines={lines} />
        )}
      </pre>
      {!filtered && index.chunks.length > 1 && <ChunkNav data={data} />}
    </section>
  )
}

/** Above the lines; it stays in sight. */
function LogTools({ data }: { data: LogPageData }) {
  const { address, index, query, filtered, chunk } = data
  const before = query.errorAfter ?? query.line ?? (chunk?.line ?? 1) - 1
  return (
    <div class="log-tools row" id="log-tools">
      <form method="get" action={address} class="log-filter">
        <input type="hidden" name="view" value="raw" />
        <input
          type="search"
          name="filter"
          id="log-filter"
          value={query.filter}
          placeholder="Filter lines"
          aria-label="Filter lines"
          autocomplete="off"
          maxlength={200}
          data-key="/"
        />
        <button type="submit" class="compact">
          Filter
        </button>
      </form>
      {index.chunks.length > 1 && (
        <form method="get" action={address} class="log-line-form">
          <input type="hidden" name="view" value="raw" />
          <label for="log-line" class="visually-hidden">
            Line
          </label>
          <input
            id="log-line"
            name="line"
            inputmode="numeric"
            pattern="[0-9]{1,9}"
            placeholder="Line"
            autocomplete="off"
            required
          />
          <button type="submit" class="compact">
            Go to line
          </button>
        </form>
      )}
      <span class="log-buttons">
        {!filtered && (
          <a
            class="button compact"
            id="next-error"
            href={`${address}?view=raw&error-after=${before}`}
            data-key="E"
          >
            Next error
          </a>
        )}
        <WrapButton />
      </span>
      {!filtered && index.chunks.length > 1 && <ChunkNav data={data} />}
    </div>
  )
}

export function WrapButton() {
  return (
    <button type="button" class="compact needs-script" id="wrap" aria-pressed="true" data-keep>
      Wrap
    </button>
  )
}

function FilterSummary({ data, filtered }: { data: LogPageData; filtered: FilteredLines }) {
  const { address } = data
  const { lines, total } = filtered
  const cut = total > lines.length
  return (
    <p class="facts" id="filter-summary">
      <span>
        {linesText(total)} with "{data.query.filter}"
        {cut && `; here are the first ${numberText(lines.length)}`}
      </span>
      <a href={`${address}?view=raw`}>Show all lines</a>
    </p>
  )
}

/** Leads to the line among those around it. */
function FilteredLine({ data, each }: { data: LogPageData; each: LogLine }) {
  const { address } = data
  const { number } = each
  return (
    <span class="filtered-line">
      <a href={`${address}?view=raw&line=${number}#L${number}`} aria-label={`Line ${number}`}>
        {number}
      </a>
      <LogLines lines={[{ ...each, number: null }]} />
    </span>
  )
}

function ChunkNav({ data }: { data: LogPageData }) {
  const { address, index, chunk } = data
  if (!chunk) return null
  const at = index.chunks.indexOf(chunk)
  const next = index.chunks[at + 1]
  const last = next ? next.line - (next.isMidLine ? 0 : 1) : index.lines
  const link = (to: number, text: string) =>
    to !== at && index.chunks[to] ? (
      <a href={`${address}?view=raw&page=${to + 1}`}>{text}</a>
    ) : (
      <span class="muted">{text}</span>
    )
  return (
    <nav class="log-pages row" aria-label="Pages of the log">
      <span>
        Lines {numberText(chunk.line)}–{numberText(last)} of {numberText(index.lines)}
      </span>
      {link(0, 'First')}
      {link(at - 1, 'Previous')}
      {link(at + 1, 'Next')}
      {link(index.chunks.length - 1, 'Last')}
    </nav>
  )
}
