/**
 * Whether a text looks like a test report: TAP, JUnit XML or `go test -json`. Fast but with false positives, which
 * counting the tests resolves. Never false for a text that the report readers recognize.
 */
export function looksLikeReport(text: string): boolean {
  return TAP.test(text) || JUNIT.test(text) || GO.test(text)
}

const TAP = /^[ \t]*(?:TAP version 1|1\.\.\d|Bail out!|(?:not )?ok \d|not ok(?=[ \t\r\n]|$))/m
const JUNIT = /<(?:[\w.-]+:)?testsuites?[\s/>]/
const GO = /^\{[^\n]*"Action"[ \t]*:[ \t]*"/m
