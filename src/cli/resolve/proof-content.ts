import { resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { realPathOf } from '../../files/real-path.ts'
import { readRegular } from '../../files/safe-read.ts'
import { AppError } from '../../model/app-error.ts'
import { MAX_PROOF_CONTENT_BYTES } from '../../sessions/proof-content.ts'
import { decoded } from '../../workspace/record.ts'
import { usageError } from '../output/exit-codes.ts'

export interface ProofSource {
  artifact?: string
  text?: string
}

/** The content to attach: from a file, standard input, an option, or a file that a session left. */
export async function contentOf(
  file: string | undefined,
  { artifact, text }: ProofSource,
): Promise<{ content: string } | { artifact: string }> {
  const given = [file, artifact, text].filter((each) => each !== undefined)
  if (given.length !== 1) {
    throw usageError(
      'Name the proof: a file, - for standard input, --text, or --artifact. casefile gate shows what a session offers.',
    )
  }
  if (artifact !== undefined) return { artifact }
  if (text !== undefined) return { content: text }
  return { content: file === '-' ? await readAll(process.stdin) : await contentOfFile(file!) }
}

async function contentOfFile(file: string): Promise<string> {
  const path = await realPathOf(resolve(file)) // the operator chose it, so links are followed
  const read = decoded(await readRegular(path, { maxBytes: MAX_PROOF_CONTENT_BYTES }), file)
  if (read.ok) return read.text
  throw new AppError(
    'unreadable_file',
    `${file} cannot be attached: ${read.problem.message}. Attach a text file, or the part of it that proves the point.`,
  )
}
