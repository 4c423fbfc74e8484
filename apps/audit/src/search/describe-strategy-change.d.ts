/** The label of a strategy: its title, else its name. */
export declare const strategyLabel: (strategy: unknown) => string;
/** The change of a strategy, for the end of a sentence. It leaves out titles, variants and whether the strategy is disabled. */
export declare const describeStrategyChange: (before: unknown, after: unknown, environment: string) => string;
