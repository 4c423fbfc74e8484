/** The result of one check, with the remedy of a problem. */
export interface Finding {
  readonly component: string;
  readonly text: string;
  readonly isProblem: boolean;
}

export const passedCheck = (component: string, text: string): Finding => ({ component, text, isProblem: false });
export const failedCheck = (component: string, text: string): Finding => ({ component, text, isProblem: true });
export const reasonOf = (error: unknown): string => (error as Error).message;
