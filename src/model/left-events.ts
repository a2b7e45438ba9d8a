import * as z from 'zod'
import { lineOf, outOfScopeLine, say } from './event-line.ts'
import { entry, given, optional, text } from './event-row.ts'
import { describeRunsLater } from './runs-later.ts'
import { count } from './schemas.ts'

const place = z.object({
  file: text,
  change: z.enum(['new', 'changed', 'mode', 'deleted']),
  starts: given,
  scripts: optional(z.array(text)),
})

/** The rows of the table of events about what a run left: for later, and outside of its scope. */
export const LEFT_EVENTS = {
  runs_later: entry(
    {
      places: z.array(place),
      more: optional(count),
      /** The artifact with all of them, if there are more. */
      all: optional(text),
      /** How many places were not checked. */
      unseen: optional(count),
    },
    {
      line: (fields) => lineOf('warn', `runs later: ${describeRunsLater(fields, 3)}`),
      example: {
        places: [
          { file: '.envrc', change: 'new', starts: 'direnv or autoenv, when you enter the folder' },
        ],
      },
    },
  ),
  out_of_scope: entry(
    { files: z.array(text), more: optional(count) },
    {
      line: ({ files, more }) => outOfScopeLine(files, more),
      example: { files: ['package.json'] },
    },
  ),
  git_redirected: entry(
    { file: text, content: text, kept: text },
    {
      line: ({ file, content, kept }) =>
        lineOf('bad', `wrote ${say(file)} (${say(content)}), moved to ${say(kept)}`),
      example: { file: '.git/commondir', content: '../.g', kept: 'artifacts/1-commondir.txt' },
    },
  ),
} as const
