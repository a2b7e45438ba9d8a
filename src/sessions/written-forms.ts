/** How programs write the characters of a secret: as they are, or as reports, addresses and shells escape them. */

/** For each character the ways to write it, as UTF-8 in Latin-1: one character for each byte. The longest comes first. */
export type WrittenForms = readonly (readonly string[])[]

export function writtenForms(text: string): WrittenForms {
  return [...text.toWellFormed()].map((character) => {
    const forms = /[A-Za-z\d]/.test(character) ? [character] : formsOf(character)
    const bytes = [...new Set(forms)].map((form) => Buffer.from(form).toString('latin1'))
    return bytes.sort((a, b) => b.length - a.length)
  })
}

/** Only as it is. */
export function plainForm(text: string): WrittenForms {
  return Array.from(Buffer.from(text).toString('latin1'), (byte) => [byte])
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}
/** Doubled in YAML and CSV; in a shell; around the end of CDATA, which must not stand in it. */
const SPECIAL: Readonly<Record<string, readonly string[]>> = {
  "'": ["''", "'\\''", "'\"'\"'"],
  '"': ['""'],
  '>': [']]><![CDATA[>'],
  ' ': ['+'],
}

function formsOf(character: string): string[] {
  const code = character.codePointAt(0)!
  const hex = bothCases(code.toString(16))
  const xml = [
    character,
    ...(ENTITIES[character] ? [ENTITIES[character]] : []),
    ...[`${code}`, `0${code}`, ...hex.flatMap((digits) => [`x${digits}`, `X${digits}`])].map(
      (number) => `&#${number};`,
    ),
  ]
  const units = Array.from(character.split(''), (unit) => unit.charCodeAt(0).toString(16))
  const bytes = Array.from(Buffer.from(character), (byte) => byte.toString(16).padStart(2, '0'))
  return [
    ...xml,
    ...xml.map((form) => `\\${form}`), // Markdown, TAP, JSON, shells
    JSON.stringify(character).slice(1, -1),
    ...bothCases(units.map((unit) => unit.padStart(4, '0')).join('\\u')).map((u) => `\\u${u}`),
    ...bothCases(bytes.join('%')).map((byte) => `%${byte}`),
    ...(bytes.length === 1 ? bothCases(bytes[0]!).map((byte) => `\\x${byte}`) : []),
    ...(SPECIAL[character] ?? []),
  ]
}

function bothCases(hex: string): string[] {
  return [hex, hex.replace(/[a-f]/g, (digit) => digit.toUpperCase())]
}

/** The source of a regular expression that finds all of them. */
export function expressionOf(forms: WrittenForms): string {
  const parts = forms.map((each) => each.map(escaped))
  return parts.map((each) => (each.length === 1 ? each[0] : `(?:${each.join('|')})`)).join('')
}

function escaped(form: string): string {
  return form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

/** Where the text at `at` ends, if it is these characters, written in any way; -1 if it is not. */
export function endOf(forms: WrittenForms, text: string, at: number, index = 0): number {
  if (index === forms.length) return at
  for (const form of forms[index]!) {
    if (!text.startsWith(form, at)) continue
    const end = endOf(forms, text, at + form.length, index + 1)
    if (end >= 0) return end
  }
  return -1
}

/** Whether the text from `at` to its end is a beginning of these characters, and not all of them. */
export function isBeginning(forms: WrittenForms, text: string, at: number, index = 0): boolean {
  if (at === text.length || index === forms.length) return index < forms.length
  return forms[index]!.some((form) =>
    form.length > text.length - at
      ? form.startsWith(text.slice(at))
      : text.startsWith(form, at) && isBeginning(forms, text, at + form.length, index + 1),
  )
}

export function longestOf(forms: WrittenForms): number {
  return forms.reduce((sum, [longest = '']) => sum + longest.length, 0)
}

export function shortestOf(forms: WrittenForms): number {
  return forms.reduce((sum, each) => sum + each.at(-1)!.length, 0)
}
