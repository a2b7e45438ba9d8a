/**
 * Whether a text looks like a test report: TAP, JUnit XML or `go test -json`. A cheap check with
 * false positives, which the report readers sort out. Never false for a report that they recognise.
 */
export function looksLikeReport(text: string): boolean {
  return TAP.test(text) || JUNIT.test(text) || GO.test(text)
}

const TAP = /^[ \t]*(?:TAP version 1|1\.\.\d|Bail out!|(?:not )?ok \d|not ok(?=[ \t\r\n]|$))/m
const JUNIT = /<(?:[\w.-]+:)?testsuites?[\s/>]/
const GO = /^\{[^\n]*"Action"[ \t]*:[ \t]*"/m
