import type { ReportFormat } from '../model/report-formats.ts'

/** A script that runs tests and prints a report on its standard output. */
export interface ReportScript {
  script: string
  report: ReportFormat
}

interface Runner {
  /** The first words of the command. */
  words: RegExp
  report: ReportFormat
  /** Replaces `words`, with what asks for the report. */
  asks: string
  /** Behind the command: sends the report to standard output, and all else to standard error. */
  end?: string
  /** What a command has that asks for a reporter already. */
  asked: RegExp
}

/** The runners that print a report by themselves. All others are judged by their exit code (`proof=test`). */
const RUNNERS: readonly Runner[] = [
  {
    words: /^(?:python3? -m pytest|pytest)(?=\s|$)/,
    report: 'junit',
    asks: '$& --junitxml=/dev/fd/3',
    end: ' 3>&1 >&2',
    asked: /--junit-?xml/,
  },
  {
    words: /^node --test(?=\s|$)/,
    report: 'tap',
    asks: '$& --test-reporter=tap',
    asked: /--test-reporter/,
  },
  {
    words: /^(?:npx )?vitest(?: run)?(?=\s|$)/,
    report: 'tap',
    asks: '$& --reporter=tap-flat',
    asked: /--reporter|--watch/,
  },
  {
    words: /^(?:npx )?mocha(?=\s|$)/,
    report: 'tap',
    asks: '$& --reporter=tap',
    asked: /--reporter|-R/,
  },
  { words: /^(?:npx )?ava(?=\s|$)/, report: 'tap', asks: '$& --tap', asked: /--tap/ },
  { words: /^go test(?=\s|$)/, report: 'go', asks: '$& -json', asked: /-json/ },
]

/** More than one command, or words whose meaning only a shell knows. */
const NOT_SIMPLE = /[;&|<>`$()\\\n]/

/** The script that makes a known runner print its report; null for any other command. */
export function reportScript(command: string): ReportScript | null {
  const plain = command.trim()
  const runner = NOT_SIMPLE.test(plain) ? undefined : RUNNERS.find(({ words }) => words.test(plain))
  if (!runner || runner.asked.test(plain)) return null
  const { words, asks, end = '', report } = runner
  return { script: plain.replace(words, asks) + end, report }
}

/** The same for `npm test`, by the script in package.json. npm hands over what stands behind `--`. */
export function npmReportScript(command: string, script: string): ReportScript | null {
  const plain = script.trim()
  const found = reportScript(plain)
  if (found?.report !== 'tap') return null
  const { words, asks } = RUNNERS.find((runner) => runner.words.test(plain))!
  const option = asks.replace('$& ', '')
  // node reads its options only before the files
  return plain.startsWith('node') && plain.replace(words, '') !== ''
    ? { script: `NODE_OPTIONS=${option} ${command}`, report: 'tap' }
    : { script: `${command} -- ${option}`, report: 'tap' }
}
