import { inspect } from 'node:util'
import { AppError } from '../model/app-error.ts'
import { verificationJunit } from './junit.ts'
import { verificationMarkdown } from './markdown.ts'
import type { Verification } from './result.ts'
import { verificationStatements } from './statement.ts'
import { verificationText } from './text.ts'
import { type VerifyOptions, verifyCommits } from './verify.ts'

export const FORMATS = ['text', 'json', 'junit', 'markdown', 'in-toto'] as const
export type Format = (typeof FORMATS)[number]

/** The exit codes of `casefile verify-commits`. */
export const VERIFY_EXIT = { passed: 0, false: 1, failed: 2 } as const

/** `casefile verify-commits`: prints the result and returns the exit code. Throws an AppError if it cannot check. */
export async function verify(
  options: VerifyOptions & { format: Format },
  print: (text: string) => void,
): Promise<number> {
  try {
    const found = await verifyCommits(options, process.env)
    print(PRINTERS[options.format](found))
    return found.ok ? VERIFY_EXIT.passed : VERIFY_EXIT.false
  } catch (error) {
    if (error instanceof AppError) throw error
    process.stderr.write(`casefile: verify failed: ${inspect(error)}\n`)
    return VERIFY_EXIT.failed
  }
}

const PRINTERS: Record<Format, (verification: Verification) => string> = {
  text: verificationText,
  json: (verification) => `${JSON.stringify(verification, null, 2)}\n`,
  junit: verificationJunit,
  markdown: verificationMarkdown,
  'in-toto': (verification) =>
    verificationStatements(verification)
      .map((statement) => `${JSON.stringify(statement)}\n`)
      .join(''),
}
