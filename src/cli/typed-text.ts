import { buffer } from 'node:stream/consumers'
import { textOf } from '../client/memory-change.ts'
import type { CommandContext } from './context.ts'
import { withEdited } from './edited-text.ts'
import { EXIT, type ExitCode, usageError } from './output/exit-codes.ts'

export const MESSAGE = [
  '-m, --message <text>',
  'The text; - reads standard input. Default: your editor.',
] as const

const CUT = '# ----- Everything below this line is ignored. -----'

interface Editing {
  present?: string
  /** Shown below the text in the editor. */
  about: readonly string[]
}

/** Passes a given text, or that of the editor, to `use`. An empty or unchanged text of the editor does nothing. */
export async function withTypedText(
  { terminal, signal }: CommandContext,
  given: string | undefined,
  { present = '', about }: Editing,
  use: (text: string) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (given !== undefined) {
    const text = given === '-' ? textOf(await buffer(process.stdin), 'Standard input') : given
    if (text.trim() === '') throw usageError('The text is blank.')
    return use(text)
  }
  let code: ExitCode = EXIT.failed
  const template = [present, '', CUT, ...about.map((line) => `# ${line}`.trimEnd()), ''].join('\n')
  const onSaved = (file: string) => terminal.warn(`your text was saved in ${file}`)
  await withEdited(template, { name: 'comment.md', signal, onSaved }, async (edited) => {
    const text = edited.split(CUT)[0]!.trim()
    if (text === '' || text === present.trim()) {
      terminal.warn(text === '' ? 'the text is empty; nothing was sent' : 'nothing was changed')
    } else code = await use(text)
  })
  return code
}
