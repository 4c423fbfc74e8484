import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'console', rootDir: import.meta.dirname };
