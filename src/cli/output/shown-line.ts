import { visibleText } from '../../model/visible-text.ts'

/** What is shown of a line: all of it, tabs as blanks. */
export function shownLine(line: string): string {
  return line.split('\t').map(visibleText).join('    ')
}
