import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'bus', rootDir: import.meta.dirname };
