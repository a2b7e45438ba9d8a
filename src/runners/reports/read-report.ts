import { unreadReport } from '../../markdown/report-shape.ts'
import type { ReportFormat } from '../../model/report-formats.ts'
import { findGoTest, readGoTest } from './go-test.ts'
import { findJunit, readJunit } from './junit.ts'
import type { ReportReading } from './report-reader.ts'
import { collectTests, type ReportedTests, type TestSink } from './reported-tests.ts'
import { findTap, readTap, tapObstacle } from './tap.ts'
import type { TestResults } from './test-results.ts'

interface Reader {
  find(text: string): number
  obstacle?(text: string): string | null
  read(text: string, sink?: TestSink): TestResults | null
}

const READERS: Record<ReportFormat, Reader> = {
  go: { find: findGoTest, read: readGoTest },
  junit: { find: findJunit, read: readJunit },
  tap: { find: findTap, obstacle: tapObstacle, read: readTap },
}

/**
 * Reads the test report in a text, in any supported format. The report that begins first decides the format; a
 * later one in another format is output of a test.
 */
export function readReport(text: string): ReportReading {
  return readWith(text)
}

/** Reads a report with its tests by name; null if there is none that can be read. */
export function readTests(text: string): ReportedTests | null {
  const collected = collectTests()
  return readWith(text, collected).results ? collected.result() : null
}

function readWith(given: string, sink?: TestSink): ReportReading {
  const text = given.replace(/^\uFEFF/, '')
  const found = Object.entries(READERS)
    .map(([format, reader]) => ({ format: format as ReportFormat, reader, at: reader.find(text) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
  for (const { format, reader } of found) {
    const reason = reader.obstacle?.(text) ?? null
    if (reason !== null) return { results: null, reason }
    const results = reader.read(text, sink)
    if (results) return { format, results }
  }
  const unread = unreadReport(text)
  return unread === null ? { results: null } : { results: null, unread }
}
