import { visibleText } from '../../model/visible-text.ts'

/** A line as it is shown, with spaces for tabs. */
export function shownLine(line: string): string {
  return line.split('\t').map(visibleText).join('    ')
}

/** A text on one line. */
export function oneLineText(text: string): string {
  return visibleText(text.replace(/\s+/g, ' '))
}
