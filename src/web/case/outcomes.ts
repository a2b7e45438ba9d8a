/** The outcomes that the interface names; any other PascalCase word is one too. */
export const KNOWN_OUTCOMES = [
  'ConfirmedCodeBug',
  'ConfirmedConfigBug',
  'ConfirmedDataBug',
  'ConfirmedEnvironmentIssue',
  'ConfirmedOperatorError',
  'ConfirmedHardwareSetupIssue',
  'IntendedBehavior',
  'Duplicate',
  'Unreproducible',
  'NeedsProductDecision',
  'NeedsUserInput',
  'FeatureShipped',
  'WontFix',
] as const
