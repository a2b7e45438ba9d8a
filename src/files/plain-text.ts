/** Terminal output as plain text for markdown files. */

// CSI (colours, cursor), then OSC and the other strings (titles, links), then the short sequences.
// No branch can fail after it has begun. So the time is linear, and a truncated sequence also
// matches.
const ESCAPE_SEQUENCE =
  /\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?/g
const CONTROL_CHARACTER = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g

/**
 * Converts terminal output to text for markdown: without escape sequences (ECMA-48) and control characters other than
 * line feed and tab. A carriage return ends a line, so each state of a progress bar is a line.
 */
export function plainText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(ESCAPE_SEQUENCE, '').replace(CONTROL_CHARACTER, '')
}
