import * as z from 'zod'
import type { ApiReader } from '../../client/client.ts'
import { changeMemory, withParagraphs } from '../../client/memory-change.ts'
import type { MemoryFileJson } from '../../http/schemas/memory.ts'
import { AppError } from '../../model/app-error.ts'
import { isMemoryName, isRecordName, MEMORY_NAME_RULE } from '../../model/memory-name.ts'
import { caseArgument, caseIn, mustBeWhole } from './arguments.ts'
import { row, type Tool, tool } from './tool.ts'
import { partOf, rowRange, rowsOf, rowsShape, textPartShape, textRange } from './truncate.ts'
import { memoryUri } from './uris.ts'
import { memoryRow } from './views.ts'

const fileArgument = (which: string) => z.string().max(255).describe(which)

export const memoryTools: readonly Tool[] = [
  tool({
    name: 'list_memory',
    title: 'List memory files',
    does: 'reads',
    description:
      'Lists the markdown files of a case: case.md, the notes of people and agents, and one record for each session (1.md, 2.md …).',
    input: { ...caseArgument, ...rowRange },
    output: {
      memory: z.array(row({ filename: z.string(), uri: z.string() })),
      ...rowsShape,
    },
    run: (access, { case: name, offset, limit }) =>
      access.read(async (client) => {
        const id = await caseIn(client, name)
        const { body } = await client.request('GET', `/cases/${id}/memory`)
        const { items, ...range } = rowsOf<MemoryFileJson>(body, offset, limit)
        return { structured: { memory: items.map((each) => memoryRow(id, each)), ...range } }
      }),
  }),
  tool({
    name: 'read_memory',
    title: 'Read a memory file',
    does: 'reads',
    description: 'The text of a memory file of a case, or a part of it.',
    input: {
      ...caseArgument,
      filename: fileArgument('Such as notes.md, case.md, 2.md (session 2) or latest.md'),
      ...textRange,
    },
    output: { filename: z.string(), text: z.string(), ...textPartShape, uri: z.string() },
    run: (access, { case: name, filename, offset, limit }) =>
      access.read(async (client) => {
        const id = await caseIn(client, name)
        const part = partOf(await memoryText(client, id, filename), offset, limit)
        const { text, next_offset, total_characters } = part
        const more =
          next_offset === null
            ? ''
            : `\n\n[casefile: characters ${part.offset} to ${next_offset} of ${total_characters}; read on with offset ${next_offset}]`
        return {
          structured: { filename, ...part, uri: memoryUri(id, filename) },
          text: text + more,
        }
      }),
  }),
  tool({
    name: 'append_memory',
    title: 'Add to a memory file',
    does: 'appends',
    description:
      'Adds a paragraph to the end of a memory file of a case, and makes the file where there is none. What stands there stays. It cannot write case.md or a session: the state of a case, its checklist, plans and proof are not changed by this.',
    input: {
      ...caseArgument,
      filename: fileArgument('A file name that ends in .md, such as notes.md').default('notes.md'),
      text: z.string().describe('Markdown, added as it is after a blank line'),
    },
    output: { filename: z.string(), size: z.number(), uri: z.string() },
    run(access, { case: name, filename, text }) {
      mustBeNotes(filename)
      mustBeWhole('text', text)
      if (text.trim() === '') {
        throw new AppError('bad_request', 'text is blank. Give it what is to be remembered.')
      }
      return access.served(async (client) => {
        const id = await caseIn(client, name)
        const added = text.replace(/^(?:[ \t]*\r?\n)+/, '').trimEnd()
        const path = `/cases/${id}/memory/${encodeURIComponent(filename)}`
        const { body } = await changeMemory(client, path, (present) =>
          withParagraphs(present ?? '', [added]),
        ).catch((error) => {
          throw error instanceof AppError && error.code === 'too_large' ? tooLong(filename) : error
        })
        return { structured: { ...body, uri: memoryUri(id, filename) } }
      })
    },
  }),
]

export async function memoryText(client: ApiReader, id: string, filename: string): Promise<string> {
  mustBeFilename(filename)
  return (await client.request('GET', `/cases/${id}/memory/${encodeURIComponent(filename)}`)).body
}

function tooLong(filename: string): AppError {
  return new AppError(
    'too_large',
    `With this ${filename} would be over the 10 MiB that a memory file may have, so nothing was added. Add less, or use another file name.`,
  )
}

/** No tool writes files of the record (case, sessions, proof); all other memory files are free. */
function mustBeNotes(filename: string): void {
  mustBeFilename(filename)
  if (!isRecordName(filename)) return
  throw new AppError(
    'invalid_filename',
    `${filename} is part of the record, which no tool here writes. Use another name, such as notes.md; a plan is proposed with propose_plan. States and the checklist are for the operator to change.`,
  )
}

/** Before it becomes a part of an address. */
function mustBeFilename(filename: string): void {
  if (isMemoryName(filename)) return
  throw new AppError(
    'invalid_filename',
    `${JSON.stringify(filename.slice(0, 120))} is no memory file name: expected ${MEMORY_NAME_RULE}.`,
  )
}
