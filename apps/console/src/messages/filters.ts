/** Why a token of a filter, or of a context of the playground, cannot be applied. */
export const filterMessages = {
  noValue: 'a value is missing',
  unknownKey: (key: string) => `${key} is not a filter key; put it into quotes to search for the text`,
  oneOf: (values: readonly string[]) => `write ${values.join(' or ')}`,
  day: 'write <7d, >4w, or >2026-01-31',
  tag: 'write tag:type:value',
  oneEnvironment: 'one environment at a time can be filtered',
  bothWays: (key: string) => `${key} cannot both include and exclude`,
  contextValue: 'write it as name=value',
  givenTwice: (name: string) => `${name} is given twice; write ${name}=a,b`,
} as const;
