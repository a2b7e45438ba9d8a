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
    description: 'Reads a memory file of a case, or a part of it.',
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
      'Adds a paragraph to the end of a memory file of a case, and creates the file if needed. Existing text stays unchanged. It cannot write case.md or session files, so it never changes the state, checklist, plans or proof of a case.',
    input: {
      ...caseArgument,
      filename: fileArgument('A file name that ends in .md, such as notes.md').default('notes.md'),
      text: z.string().describe('Markdown; it is added unchanged after a blank line'),
    },
    output: { filename: z.string(), size: z.number(), uri: z.string() },
    run(access, { case: name, filename, text }) {
      mustBeNotes(filename)
      mustBeWhole('text', text)
      if (text.trim() === '') {
        throw new AppError('bad_request', 'text is blank. Write what should be remembered.')
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
    `${filename} would exceed 10 MiB, the limit of a memory file, so nothing was added. Add less, or use another file name.`,
  )
}

/** Throws for files of the record (case, sessions, proof), which no tool writes. All other names are allowed. */
function mustBeNotes(filename: string): void {
  mustBeFilename(filename)
  if (!isRecordName(filename)) return
  throw new AppError(
    'invalid_filename',
    `${filename} is part of the record, which no tool here writes. Use another name, such as notes.md. Propose a plan with propose_plan. Only the operator changes states and the checklist.`,
  )
}

/** Throws for anything but a memory file name, before it becomes part of a URL. */
function mustBeFilename(filename: string): void {
  if (isMemoryName(filename)) return
  throw new AppError(
    'invalid_filename',
    `${JSON.stringify(filename.slice(0, 120))} is not a memory file name. Expected ${MEMORY_NAME_RULE}.`,
  )
}
