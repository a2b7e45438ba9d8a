import type { SessionJson } from '../../http/schemas/session.ts'
import type { WallsJson } from '../../http/schemas/walls.ts'
import { AppError } from '../../model/app-error.ts'
import type { ReadContext } from '../context.ts'
import { oneLineText } from './shown-line.ts'
import { wrapped } from './wrapped.ts'

/** Prints what the programs of a session could write to, see and reach once its plan is approved. */
export async function printWalls(
  { client, terminal }: Pick<ReadContext, 'client' | 'terminal'>,
  { case_id, id }: Pick<SessionJson, 'case_id' | 'id'>,
): Promise<void> {
  const path = `/cases/${case_id}/sessions/${id}/walls`
  const said = await client.request('GET', path).then(
    ({ body }: { body: WallsJson }) => body,
    (error: unknown) => {
      if (!(error instanceof AppError) || error.code === 'stopping') throw error
      return { guard: 'comparison', text: `What will hold is not known: ${error.message}` }
    },
  )
  const mark = said.guard === 'mount' ? ' ' : terminal.color.yellow('!')
  terminal.print(`\n${mark} ${wrapped(oneLineText(said.text), terminal.width() - 2, '  ')}\n`)
}
