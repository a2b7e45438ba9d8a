import type { SessionJson } from '../../http/schemas/session.ts'
import { failedTestPlace } from '../../model/failed-test.ts'
import { visibleText } from '../../model/visible-text.ts'
import { cutTo } from './screen-width.ts'
import type { Terminal } from './terminal.ts'

/** The failed tests of a session, each with its place, and its message on the next line. */
export function printFailedTests(terminal: Terminal, session: SessionJson): void {
  const { failed_tests, tests } = session
  const { color, print } = terminal
  for (const test of failed_tests) {
    const place = failedTestPlace(test)
    const at = place === null ? '' : `  ${color.dim(visibleText(place))}`
    print(`  ${color.red('✗')} ${visibleText(test.name)}${at}\n`)
    if (test.message !== null) {
      print(`    ${cutTo(visibleText(test.message), terminal.width() - 4)}\n`)
    }
  }
  const unnamed = (tests?.failed ?? 0) - failed_tests.length
  if (failed_tests.length > 0 && unnamed > 0) print(`  and ${unnamed} more\n`)
}
