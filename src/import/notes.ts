import { newFrontmatter } from '../markdown/field-edit.ts'
import type { YamlValue } from '../markdown/yaml-scalar.ts'
import type { ImportedItem, Importer, NoteSection } from './item.ts'
import { oneLine } from './text.ts'

/**
 * The text of a case's notes file: people, dates, comments, and everything else that the case has no field for. Text
 * of the other tool is quoted, so that it cannot be mistaken for another comment or for a heading. `description` is
 * set if it is too long for the case.
 */
export function notesText(
  { name, source, notes }: ImportedItem,
  { where }: Importer,
  description: string | null,
): string {
  const given = [['source', source] as [string, YamlValue], ...notes.fields].filter(
    (field): field is [string, YamlValue] => !isEmpty(field[1]),
  )
  const sections = [
    ...(description === null ? [] : [{ heading: 'Text', parts: [quoted(description)] }]),
    ...notes.sections,
    ...unknownFields(notes.unknown),
  ].filter(({ parts }) => parts.length > 0)
  const parts = sections.flatMap((section) => [`## ${section.heading}`, ...section.parts])
  return `${newFrontmatter(given)}\n${[`# ${oneLine(name)} ${where}`, ...parts].join('\n\n')}\n`
}

function isEmpty(value: YamlValue | undefined): boolean {
  return value === undefined || value === null || value === '' || (value as unknown[]).length === 0
}

/** JSON has no line that ends the fence: its line ends are escaped. */
function unknownFields(unknown: Readonly<Record<string, unknown>>): NoteSection[] {
  if (Object.keys(unknown).length === 0) return []
  const json = JSON.stringify(unknown, null, 2)
  return [{ heading: 'Other fields', parts: [`\`\`\`json\n${json}\n\`\`\``] }]
}

/** A section with a text, if there is one. */
export function textSection(heading: string, text: string | null | undefined): NoteSection[] {
  return text ? [{ heading, parts: [quoted(text)] }] : []
}

export interface Comment {
  author?: string | null | undefined
  created_at?: string | null | undefined
  url?: string | null | undefined
  text?: string | null | undefined
}

export function commentSection(comments: readonly Comment[] | null | undefined): NoteSection[] {
  return [{ heading: 'Comments', parts: (comments ?? []).flatMap(commentParts) }]
}

function commentParts({ author, created_at, url, text }: Comment): string[] {
  const who = oneLine(author ?? '') || 'somebody'
  const heading = `### ${who}${created_at ? `, ${created_at}` : ''}`
  return [heading, ...(url ? [oneLine(url)] : []), quoted(text ?? '')]
}

/** A section with one item for each line. */
export function listSection(heading: string, lines: readonly string[]): NoteSection {
  return {
    heading,
    parts: lines.length === 0 ? [] : [lines.map((line) => `- ${oneLine(line)}`).join('\n')],
  }
}

/** Quotes a text. A carriage return alone would end the quote, too. */
export function quoted(text: string): string {
  const lines = text.split(/\r\n|[\r\n]/).map((line) => (line === '' ? '>' : `> ${line}`))
  return lines.join('\n')
}
